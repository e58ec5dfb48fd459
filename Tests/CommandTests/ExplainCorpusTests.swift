import KiiPushCore
import TestTraits
import Testing

@Suite(.ownThreads) struct ExplainCorpusTests {
    private let tool: Tool

    init() throws {
        self.tool = try Tool()
    }

    @Test(arguments: ExplainedPayload.long + ExplainedPayload.short + ExplainedPayload.odd)
    func findsTheKindItsKeyAndWhatIsWrong(payload: ExplainedPayload) throws {
        let (object, _) = try self.tool.explanation(payload.text)
        #expect(object["kind"]?.string == payload.kind)
        #expect(object["decided_by"]?["pointer"]?.string == payload.key)
        let findings = try #require(object["findings"]?.array)
        #expect(
            findings.map { "\($0["code"]?.string ?? "") \($0["pointer"]?.string ?? "")" } == payload.findings)
    }

    @Test func everyFindingIsInTheCorpus() throws {
        let corpus = ExplainedPayload.long + ExplainedPayload.short + ExplainedPayload.odd
        let found = Set(corpus.flatMap(\.findings).compactMap { $0.split(separator: " ").first.map(String.init) })
        let page = try self.tool("help", "findings").output
        let named = page.split(separator: "\n").filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }
        #expect(Set(named.compactMap { $0.split(separator: " ").first.map(String.init) }) == found)
        #expect(corpus.count >= 40)
    }

    @Test(arguments: ExplainedPayload.long + ExplainedPayload.short + ExplainedPayload.odd)
    func lintFailsForErrorsAndWarningsAlone(payload: ExplainedPayload) throws {
        let result = try self.tool("explain", "--lint", "-q", input: payload.text)
        let notes: Set<String> = ["loc-key-without-args", "size-over-256"]
        let problems = payload.findings.filter { finding in !notes.contains { finding.hasPrefix($0) } }
        #expect(result.exit == (problems.isEmpty ? 0 : 65))
        #expect(result.output == "")
        guard !problems.isEmpty else { return #expect(result.error == "") }
        let places = problems.map { finding in
            let parts = finding.split(separator: " ", omittingEmptySubsequences: false)
            return "\(parts[0]) at \(parts[1].isEmpty ? "the payload" : parts[1])"
        }
        let count = problems.count == 1 ? "1 thing is" : "\(problems.count) things are"
        let list = places.joined(separator: ", ")
        #expect(result.error == "kii-push: \(count) wrong with the payload: \(list)\n")
    }
}
