import Foundation
import TestSupport
import Testing

@Suite struct MessagesPageTests {
    private let program: DocumentedProgram

    init() throws { self.program = try DocumentedProgram(page: "messages.md", example: "MessageTour") }

    /// The first code block of a language after the beginning of `text`.
    private static func block(_ language: String, in text: some StringProtocol) throws -> String {
        let after = try #require(text.components(separatedBy: "```\(language)\n").dropFirst().first)
        return try #require(after.components(separatedBy: "```").first)
    }

    @Test func everyBlockIsADeclarationOfTheProgram() throws { try self.program.expectBlocks(9) }

    @Test func theProgramReadsEachPayloadAsThePageSays() async throws {
        let sections = self.program.page.components(separatedBy: "<!-- payload: ").dropFirst()
        #expect(sections.count == 8)
        for section in sections {
            let name = try #require(section.components(separatedBy: " -->").first)
            // The page breaks the payload into lines; the program gets one line.
            let payload = try Self.block("json", in: section).split(separator: "\n")
                .map { $0.drop { $0 == " " } }.joined()
            let result = try await ForeignProgram(
                productsDirectory.appending(path: "MessageTour").path, name, payload
            ).run()
            #expect(result.status == 0, "\(name): \(result.errors)")
            #expect(result.output == (try Self.block("text", in: section)), "\(name)")
        }
    }

    @Test func itNamesEveryAccessor() throws {
        let table = try #require(self.program.page.components(separatedBy: "## Every accessor").last)
        for file in [
            "ReceivedMessage", "ReceivedMessage+Fields", "ReceivedMessage+Source", "MessageSender", "PayloadFinding",
        ] {
            let source = try DocumentedProgram.text("Sources/KiiPushCore/Message/\(file).swift")
            let ofMessage = source.components(separatedBy: "\npublic struct ReceivedMessage").last ?? ""
            let parts = ofMessage.components(separatedBy: "\nextension ReceivedMessage {")
            for part in file == "ReceivedMessage" ? [ofMessage] : Array(parts.dropFirst()) {
                for match in part.matches(of: /\n    public (?:var|let|func) (\w+)/) {
                    let name = String(match.output.1)
                    guard !["description", "debugDescription", "hash"].contains(name) else { continue }
                    #expect(table.contains("`\(name)`") || table.contains("`\(name)("), "\(name)")
                }
            }
        }
    }
}
