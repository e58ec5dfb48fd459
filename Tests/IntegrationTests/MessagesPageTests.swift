import Foundation
import TestSupport
import Testing

/// The page about reading a message shows a program that is built, and what that program makes of each payload.
@Suite(.timeLimit(.minutes(15))) struct MessagesPageTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
    }

    /// What stands in the first block of a language after some text.
    private static func block(_ language: String, in text: some StringProtocol) throws -> String {
        let after = try #require(text.components(separatedBy: "```\(language)\n").dropFirst().first)
        return try #require(after.components(separatedBy: "```").first)
    }

    @Test func everyBlockIsADeclarationOfTheProgram() throws {
        let page = try Self.text("Documentation/messages.md")
        let folder = Self.root.appending(path: "Examples/MessageTour")
        let source = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            .map { try String(contentsOf: folder.appending(path: $0), encoding: .utf8) }.joined(separator: "\n")
        let blocks = page.components(separatedBy: "```swift\n").dropFirst()
        #expect(blocks.count == 9)
        #expect(page.components(separatedBy: "<!-- example: MessageTour ").count - 1 == blocks.count)
        for block in blocks {
            let code = try #require(block.components(separatedBy: "```").first)
            #expect(source.contains("\n\n" + code), "\(code)")
        }
    }

    @Test func theProgramReadsEachPayloadAsThePageSays() async throws {
        let page = try Self.text("Documentation/messages.md")
        let sections = page.components(separatedBy: "<!-- payload: ").dropFirst()
        #expect(sections.count == 8)
        for section in sections {
            let name = try #require(section.components(separatedBy: " -->").first)
            // Broken for the page alone.
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
        let page = try Self.text("Documentation/messages.md")
        let table = try #require(page.components(separatedBy: "## Every accessor").last)
        for file in [
            "ReceivedMessage", "ReceivedMessage+Fields", "ReceivedMessage+Source", "MessageSender", "PayloadFinding",
        ] {
            let source = try Self.text("Sources/KiiPushCore/Message/\(file).swift")
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
