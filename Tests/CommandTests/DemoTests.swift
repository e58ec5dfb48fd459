import Foundation
import TestSupport
import TestTraits
import Testing

@Suite(.ownThreads) struct DemoTests {
    private let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "script/demo").path

    @Test func everyPushArrivesAndIsHandled() throws {
        let run = try RunningTool([self.script, "--tool", Tool.executable.path], environment: Tool().environment)
        let result = run.waitForExit()
        #expect(result.exit == 0, "\(result.error)")
        #expect(result.output.hasSuffix("\nall four arrived and were handled\n"))
    }

    @Test(arguments: [["--tool"], ["--tool", "/nonexistent"], ["kii-push"]])
    func aToolThatIsNoneIsRefused(options: [String]) throws {
        let result = try RunningTool([self.script] + options, environment: Tool().environment).waitForExit()
        #expect(result.exit == 64)
        #expect(result.error.hasPrefix("usage: script/demo [--tool FILE] "))
    }
}
