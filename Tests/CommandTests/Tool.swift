import Foundation
import TestSupport
import Testing

/// Runs the built `kii-push`, or another program beside it, with a home directory of its own, so that nothing of the machine's user shows through.
final class Tool {
    /// How a run ended.
    struct Result {
        var exit: Int32
        var output: String
        var error: String
    }

    /// The home directory; removed with this object.
    let home: URL

    private let program: String

    /// - Parameter program: the name of the program that runs.
    init(_ program: String = "kii-push") throws {
        self.program = program
        self.home = FileManager.default.temporaryDirectory.appending(path: "kii-push-tests-\(UUID().uuidString)")
        for name in ["config/kii-push", "state", "run/kii-push"] {
            try FileManager.default.createDirectory(
                at: self.home.appending(path: name),
                withIntermediateDirectories: true
            )
        }
    }

    deinit {
        try? FileManager.default.removeItem(at: self.home)
    }

    /// The environment of every run; `PATH` alone comes from outside, and how a sanitizer behaves: without, it takes for
    /// leaked what a Swift constant points to with a marked pointer.
    var environment: [String: String] {
        [
            "HOME": self.home.path, "XDG_CONFIG_HOME": self.home.path + "/config",
            "XDG_STATE_HOME": self.home.path + "/state", "XDG_RUNTIME_DIR": self.home.path + "/run",
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "TZ": "UTC",
        ].merging(ProcessInfo.processInfo.environment.filter { ["ASAN_OPTIONS", "TSAN_OPTIONS"].contains($0.key) }) {
            $1
        }
    }

    /// Starts the tool, or another program in its place; the caller ends it.
    func start(
        _ arguments: [String],
        program: String? = nil,
        input: String? = nil,
        environment extra: [String: String] = [:]
    ) throws -> RunningTool {
        try RunningTool(
            [Self.executable(program ?? self.program).path] + arguments, input: input,
            environment: self.environment.merging(extra) { $1 })
    }

    /// Runs the tool to its end.
    func callAsFunction(
        _ arguments: String...,
        input: String? = nil,
        environment: [String: String] = [:]
    ) throws -> Result {
        try self.start(arguments, input: input, environment: environment).waitForExit()
    }

    /// Writes a file below the home directory and returns its path.
    @discardableResult
    func write(_ text: String, to name: String, mode: Int = 0o600) throws -> String {
        let file = self.home.appending(path: name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try Data(text.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
        return file.path
    }

    /// Has its configuration name a cloud that says nothing: connections wait to be accepted by the socket that is returned,
    /// which the caller closes.
    func configureSilentCloud() throws -> Int32 {
        let (listener, port) = try Loopback.listening()
        let cloud = #""baseURL": "http://127.0.0.1:\#(port)/api", "appID": "a""#
        try self.write(#"{"version": 1, "profiles": {"default": {\#(cloud)}}}"#, to: "config/kii-push/config.json")
        return listener
    }

    /// Copies the built tool to `path`. Another process does: a program that a test starts meanwhile would inherit a copy
    /// that is open for writing, and what is open for writing cannot be run.
    static func copyExecutable(to path: String) throws {
        let copying = try RunningTool(["/bin/cp", Self.executable.path, path], environment: [:]).waitForExit()
        #expect(copying.exit == 0, "\(copying.error)")
    }

    static var executable: URL { get throws { try Self.executable("kii-push") } }

    /// The programs lie beside the test bundle, which is what runs now.
    static func executable(_ program: String) throws -> URL {
        let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let tool = URL(filePath: bundle).deletingLastPathComponent().appending(path: program)
        try #require(FileManager.default.isExecutableFile(atPath: tool.path), "not built: \(tool.path)")
        return tool
    }
}
