import Foundation
import Testing

@testable import KiiPushCommandLine
@testable import KiiPushCore
@testable import kii_push

@Suite struct CommandPageTests {
    private let page: String

    init() throws { self.page = try Self.page("service") }

    private static func page(_ name: String) throws -> String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: root.appending(path: "Documentation/\(name).md"), encoding: .utf8)
    }

    private static func blocks(_ language: String, of page: String) -> [String] {
        page.components(separatedBy: "```\(language)\n").dropFirst()
            .compactMap { $0.components(separatedBy: "```").first }
    }

    @Test func everyExampleOfAFileIsRead() throws {
        var members: Set<String> = []
        for block in Self.blocks("json", of: self.page) {
            let document = try ConfigurationDocument(parsing: Array(block.utf8), in: "service.md")
            let settings = try RunSettings(document)
            #expect(settings.namesHandler)
            members.formUnion(document.value.members?.map(\.key) ?? [])
        }
        // Together the examples show every member.
        #expect(members == Set(RunSettings.members))
    }

    @Test(arguments: [("service", 11), ("debugging", 22)])
    func everyCommandLineIsOne(name: String, lineCount: Int) throws {
        let lines = Self.blocks("sh", of: try Self.page(name)).flatMap { $0.split(separator: "\n") }.map { String($0) }
        let parser = CommandLineParser(root: KiiPushCommand.self)
        var count = 0
        for line in lines where line.contains("kii-push ") && !line.hasPrefix("journalctl") {
            let command = line.components(separatedBy: "  #")[0].replacing("sudo ", with: "")
            let words = try #require(CommandText(argument: command)?.words)
            #expect(throws: Never.self, "\(line)") { _ = try parser.parse(Array(words.dropFirst())) }
            count += 1
        }
        #expect(count == lineCount)
    }

    @Test func everyVariableIsNamed() throws {
        let context = DeliveryContext(
            installationID: "i", messageID: 1, receivedAt: .now(), attempt: 1, deadlineInstant: .now())
        let message = HandledMessage(ThingCommand(commandID: "c", actions: [:], rawPayload: [:]))
        for name in ChildEnvironment.variables(for: message, context, limit: .seconds(1)).keys {
            #expect(self.page.contains("`\(name)`"))
        }
    }

    @Test func theWatchdogIsAsPatientAsThePageSays() {
        #expect(Watchdog.Limits().silence == .seconds(100))
        #expect(Watchdog.Limits().overdue == .seconds(60))
        #expect(Watchdog.Limits(grace: .seconds(100)).overdue == .seconds(230))
        #expect(HandlerCount.most == 10_000)
        #expect(HandlerOptions.longest == .seconds(30))
    }
}
