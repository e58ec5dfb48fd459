import Foundation
import Testing

/// A running emulator and a home directory in which the tool finds it.
final class EmulatorSession {
    let tool: Tool
    private let emulator: RunningTool

    /// - Parameters:
    ///   - keepsState: whether its state, certificates included, outlives it.
    ///   - options: further options of its command line.
    init(keepsState: Bool = false, options: [String] = []) throws {
        self.tool = try Tool()
        let options = options + (keepsState ? ["--directory", self.tool.home.path + "/emulator"] : [])
        self.emulator = try self.tool.start(["emulator"] + options)
        let text = self.emulator.output(containing: "emulator.json\n")
        try #require(text.hasPrefix("> Ready. http://127.0.0.1:"), "\(self.emulator.error(containing: "\n"))")
    }

    /// Runs a command that has to succeed and returns what it printed.
    @discardableResult
    func succeed(
        _ arguments: String...,
        input: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> String {
        let result = try self.tool.start(arguments, input: input).waitForExit()
        try #require(result.exit == 0, "\(arguments): \(result.error)", sourceLocation: sourceLocation)
        return result.output
    }

    /// The text of one label of what `whoami` prints.
    func whoami(_ label: String, profile: String = "default") throws -> String {
        let lines = try self.succeed("whoami", "-p", profile).split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix(label) })
        return line.dropFirst(label.count).trimmingCharacters(in: .whitespaces)
    }

    /// Ends the emulator with a signal and says how it ended.
    func stop(_ signal: Int32 = SIGTERM) -> Tool.Result {
        self.emulator.signal(signal)
        return self.emulator.waitForExit()
    }
}
