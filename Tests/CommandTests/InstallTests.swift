import Foundation
import TestSupport
import TestTraits
import Testing

@Suite(.ownThreads) struct InstallTests {
    private let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "script/install").path

    @Test func theToolItsPagesAndCompletionsAreInstalled() throws {
        let tool = try Tool()
        let prefix = tool.home.path + "/a prefix"
        try FileManager.default.createSymbolicLink(
            atPath: tool.home.path + "/built", withDestinationPath: try Tool.executable.path)
        let words = ["bash", "-c", #"cd && exec "$0" "$@""#, self.script, "--binary", "built", prefix]
        let result = try RunningTool(words, environment: tool.environment).waitForExit()
        #expect(result.exit == 0, "\(result.error)")
        #expect(result.output.hasPrefix("installed kii-push kii-push-emulator"), "\(result.output)")
        #expect(result.output.hasSuffix(" in \(prefix)/bin, with manual pages and completions\n"), "\(result.output)")
        for program in ["kii-push", "kii-push-emulator"] {
            let installed = try RunningTool([prefix + "/bin/\(program)", "--version"], environment: tool.environment)
            #expect(installed.waitForExit().output.hasPrefix("\(program) "))
        }
        for file in [
            "man/man1/kii-push.1", "man/man1/kii-push-emulator.1", "doc/kii-push/output.schema.json",
            "doc/kii-push/config.schema.json",
            "bash-completion/completions/kii-push", "bash-completion/completions/kii-push-emulator",
            "zsh/site-functions/_kii-push", "zsh/site-functions/_kii-push-emulator",
            "fish/vendor_completions.d/kii-push.fish", "fish/vendor_completions.d/kii-push-emulator.fish",
        ] {
            let size = try FileManager.default.attributesOfItem(atPath: "\(prefix)/share/\(file)")[.size] as? Int
            #expect(try #require(size) > 100, "\(file)")
        }
    }

    /// The test build is not hardened.
    @Test func aProgramThatIsNotHardenedIsNotReleased() throws {
        let words = [self.script.replacing("install", with: "release"), "--check", try Tool.executable.path]
        let result = try RunningTool(words, environment: Tool().environment).waitForExit()
        #expect(result.exit == 1)
        #expect(result.error == "script/release: \(try Tool.executable.path) has no BIND_NOW\n")
    }

    @Test(arguments: [["--binary"], ["relative"], ["--prefix", "/tmp"]])
    func wordsThatAreNoneAreRefused(words: [String]) throws {
        let result = try RunningTool([self.script] + words, environment: Tool().environment).waitForExit()
        #expect(result.exit == 64)
        #expect(result.error.contains("usage: script/install [--binary FILE] [PREFIX]"))
    }
}
