import Foundation
import TestSupport
import Testing

/// Runs the built `kii-push`, or another program beside it, with its own home directory, isolated from the user's
/// files.
final class Tool {
    struct Result {
        var exit: Int32
        var output: String
        var error: String
    }

    /// The home directory; removed with this object.
    let home: URL

    private let program: String

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

    /// The environment of every run. Only `PATH` comes from outside.
    var environment: [String: String] {
        [
            "HOME": self.home.path, "XDG_CONFIG_HOME": self.home.path + "/config",
            "XDG_STATE_HOME": self.home.path + "/state", "XDG_RUNTIME_DIR": self.home.path + "/run",
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "TZ": "UTC",
        ]
    }

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

    func callAsFunction(
        _ arguments: String...,
        input: String? = nil,
        environment: [String: String] = [:]
    ) throws -> Result {
        try self.start(arguments, input: input, environment: environment).waitForExit()
    }

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

    /// Configures a cloud that never answers. Returns its socket, which keeps connections unaccepted; the caller closes
    /// it.
    func configureSilentCloud() throws -> Int32 {
        let (listener, port) = try Loopback.listening()
        let cloud = #""baseURL": "http://127.0.0.1:\#(port)/api", "appID": "a""#
        try self.write(#"{"version": 1, "profiles": {"default": {\#(cloud)}}}"#, to: "config/kii-push/config.json")
        return listener
    }

    /// Copies the built tool to `path`. `cp` in another process does it, because concurrently started programs would
    /// inherit a descriptor that is open for writing. The kernel does not run a file that is open for writing.
    static func copyExecutable(to path: String) throws {
        let copying = try RunningTool(["/bin/cp", Self.executable.path, path], environment: [:]).waitForExit()
        #expect(copying.exit == 0, "\(copying.error)")
    }

    static var executable: URL { get throws { try Self.executable("kii-push") } }

    /// The programs lie beside the test bundle, which is the running executable.
    static func executable(_ program: String) throws -> URL {
        let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let tool = URL(filePath: bundle).deletingLastPathComponent().appending(path: program)
        try #require(FileManager.default.isExecutableFile(atPath: tool.path), "not built: \(tool.path)")
        return tool
    }
}
