import Foundation
import TestSupport
import TestTraits
import Testing

@Suite(.ownThreads) struct EmulatorProgramTests {
    private let tool: Tool
    /// A copy of kii-push in its own folder.
    private let copy: String

    init() throws {
        self.tool = try Tool()
        let folder = self.tool.home.appending(path: "bin")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        self.copy = folder.path + "/kii-push"
        try Tool.copyExecutable(to: self.copy)
    }

    private func run(_ words: [String], path: String = "/nonexistent") throws -> Tool.Result {
        let environment = self.tool.environment.merging(["PATH": path]) { $1 }
        return try RunningTool([self.copy] + words, environment: environment).waitForExit()
    }

    @Test func whereItIsNotInstalledItsPackageIsNamed() throws {
        for words in [["emulator"], ["emulator", "--help"], ["help", "emulator"]] {
            let result = try self.run(words)
            #expect(result.exit == 66)
            #expect(
                result.error
                    == "kii-push: kii-push-emulator is not installed: the package kii-push-emulator has it\n")
        }
        #expect(try self.run(["--help"]).output.contains("  emulator "))
    }

    @Test func oneOfAnotherVersionIsRefused() throws {
        try self.tool.write(
            "#!/bin/sh\n[ \"$*\" = --version ] && echo kii-push-emulator 0.0.1\n", to: "bin/kii-push-emulator",
            mode: 0o700)
        let result = try self.run(["emulator", "--temporary"])
        #expect(result.exit == 78)
        #expect(result.error.contains("is 'kii-push-emulator 0.0.1', and this is version "), "\(result.error)")
    }

    /// A program that never ends, and one whose output is larger than a socket's buffer.
    @Test(arguments: [
        ("exec tail -f /dev/null", "does not tell its version"), ("yes | tr -d '\\n' | head -c 1000000", "is 'yyyy"),
    ])
    func oneThatDoesNotTellItsVersionIsRefused(script: String, answer: String) throws {
        try self.tool.write("#!/bin/sh\n\(script)\n", to: "bin/kii-push-emulator", mode: 0o700)
        let path = try #require(self.tool.environment["PATH"])
        let result = try self.run(["emulator", "--temporary"], path: path)
        #expect(result.exit == 78)
        #expect(result.error.contains("/bin/kii-push-emulator \(answer)"), "\(result.error.prefix(400))")
    }

    @Test func aFolderIsNoProgram() throws {
        let folder = self.tool.home.appending(path: "bin/kii-push-emulator")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        #expect(try self.run(["emulator"]).exit == 66)
    }

    @Test func itIsFoundAlongThePathAndItsPageIsTheCommands() throws {
        let program = try Tool.executable("kii-push-emulator")
        let page = try Tool("kii-push-emulator")("--help").output
        #expect(page.contains("--mqtts-port"))
        let path = program.deletingLastPathComponent().path
        for result in [
            try self.run(["emulator", "--help"], path: path), try self.run(["help", "emulator"], path: path),
        ] {
            #expect(result.exit == 0, "\(result.error)")
            #expect(result.output == page)
        }
    }
}
