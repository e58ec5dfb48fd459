import Foundation
import KiiPushCore
import TestTraits
import Testing

@Suite(.ownThreads) struct EmulatorScriptTests {
    private static let emulator = ["emulator", "--temporary"] + EmulatorSession.freePorts()

    @Test func aScriptIsPlayedFromTheStartOn() async throws {
        let folder = try Tool()
        let text = "# packets\nrenumber\nat message 1 of any lose session of any\n"
        let script = try folder.write(text, to: "faults.txt")
        let session = try EmulatorSession(options: ["--script", script])
        var states: [String?] = []
        while states != ["done", "waiting"] {
            try Task.checkCancellation()
            let steps = try #require(try await session.control("GET", "faults")["steps"]?.array)
            states = steps.map { $0["state"]?.string }
        }
    }

    @Test func withAProxyPacketsCanBeMetLater() async throws {
        let session = try EmulatorSession(options: ["--proxy"])
        let posted = try await session.control("POST", "faults", ["script": "drop message 1 of any"])
        #expect(posted["steps"]?.array?.count == 1)
        try session.succeed("register")
    }

    @Test func aScriptThatCannotBeUnderstoodIsNamedWithItsPlace() throws {
        let tool = try Tool()
        let script = try tool.write("renumber\n  anwser 503 for 5 s\n", to: "faults.txt")
        let result = try tool.start(Self.emulator + ["--script", script]).waitForExit()
        #expect(result.exit == 64)
        #expect(result.error.hasPrefix("kii-push-emulator: \(script):2:3: 'anwser' is not known here; there is "))
        let typed = try tool.start(Self.emulator + ["--script", "-"], input: "renumber \u{1b}[2J").waitForExit()
        #expect(typed.exit == 64)
        #expect(typed.error.hasPrefix(#"kii-push-emulator: standard input:1:10: '\u001b[2J' is not known here"#))
        #expect(try tool.start(Self.emulator + ["--script", "/nowhere"]).waitForExit().exit == 66)
    }
}
