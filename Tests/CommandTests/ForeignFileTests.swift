import Foundation
import Glibc
import KiiPushCore
import TestTraits
import Testing

/// Files that another user made, may change, or has put in place of the tool's.
@Suite(.ownThreads) struct ForeignFileTests {
    private let tool: Tool

    init() throws {
        self.tool = try Tool()
    }

    /// Nobody listens at this address, so a command that accepts the file exits with 69.
    private static let configuration =
        #"{"version":1,"profiles":{"default":{"baseURL":"http://127.0.0.1:1/api","appID":"a"}}}"#
    private static let key = ["KII_PUSH_APP_KEY": "k"]

    private var folder: String { self.tool.home.path + "/config/kii-push" }

    // MARK: - Files that decide where secrets go

    @Test(arguments: [(0o644, 0o755, 69), (0o444, 0o700, 69), (0o600, 0o1777, 69)])
    func aConfigurationThatOnlyItsOwnerCanChangeIsRead(file: Int, folder: Int, exit: Int32) throws {
        try self.tool.write(Self.configuration, to: "config/kii-push/config.json", mode: file)
        try #require(chmod(self.folder, mode_t(folder)) == 0)
        #expect(try self.tool("register", environment: Self.key).exit == exit)
    }

    @Test(arguments: [0o664, 0o646, 0o666])
    func aConfigurationThatOthersCanWriteIsRefused(mode: Int) throws {
        let path = try self.tool.write(Self.configuration, to: "config/kii-push/config.json", mode: mode)
        let result = try self.tool("register", environment: Self.key)
        #expect(result.exit == 78)
        let octal = String(mode, radix: 8)
        #expect(
            result.error
                == "kii-push: \(path) can be written by others (mode \(octal)), and decides where secrets go; run: "
                + "chmod go-w \(path)\n")
    }

    @Test(arguments: [0o775, 0o757])
    func aFolderThatOthersCanWriteIsRefused(mode: Int) throws {
        try self.tool.write(Self.configuration, to: "config/kii-push/config.json")
        try #require(chmod(self.folder, mode_t(mode)) == 0)
        let result = try self.tool("register", environment: Self.key)
        #expect(result.exit == 78)
        #expect(result.error.hasPrefix("kii-push: \(self.folder) can be written by others (mode "), "\(result.error)")
    }

    @Test func aLinkIsAsGoodAsTheFolderThatItLeadsTo() throws {
        let path = try self.tool.write(Self.configuration, to: "shared/config.json")
        let link = self.folder + "/config.json"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        #expect(try self.tool("register", environment: Self.key).exit == 69)
        try #require(chmod(self.tool.home.path + "/shared", 0o777) == 0)
        let result = try self.tool("register", environment: Self.key)
        #expect(result.exit == 78)
        #expect(result.error.hasPrefix("kii-push: \(self.tool.home.path)/shared can be written by others"))
    }

    @Test(
        .enabled(if: geteuid() == 0, "only root can give a file away"), arguments: ["file", "folder", "sticky folder"])
    func aConfigurationOfAnotherUserIsRefused(foreign: String) throws {
        let path = try self.tool.write(Self.configuration, to: "config/kii-push/config.json", mode: 0o644)
        if foreign == "sticky folder" { try #require(chmod(self.folder, 0o1777) == 0) }
        let given = foreign == "folder" ? self.folder : path
        try #require(chown(given, 65_534, 65_534) == 0)
        let result = try self.tool("register", environment: Self.key)
        #expect(result.exit == 78)
        #expect(result.error.hasPrefix("kii-push: \(given) belongs to user 65534; "), "\(result.error)")
    }

    /// The test drops root's rights, which no file refuses. Another user then reads a file of root, which is trusted.
    @Test(.enabled(if: geteuid() == 0, "only root can become another user"), arguments: [true, false])
    func withoutRootTheFileOfRootIsReadAndThatOfAnotherUserIsNot(isRoots: Bool) throws {
        let path = try self.tool.write(Self.configuration, to: "etc/kii-push/config.json", mode: 0o644)
        try #require(isRoots || chown(path, 12_345, 12_345) == 0)
        for name in ["", "/config", "/state", "/run"] {
            try #require(chown(self.tool.home.path + name, 65_534, 65_534) == 0)
        }
        // Another user may have no access to the build folder.
        let program = self.tool.home.path + "/kii-push"
        try Tool.copyExecutable(to: program)
        let words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", program]
        let result = try RunningTool(
            words + ["register", "--config", path],
            environment: self.tool.environment.merging(Self.key) { $1 }
        ).waitForExit()
        #expect(result.exit == (isRoots ? 69 : 78), "\(result.error)")
        #expect(isRoots || result.error.hasPrefix("kii-push: \(path) belongs to user 12345; "), "\(result.error)")
    }

    @Test func aRegistrationThatOthersCanWriteIsRefused() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        let path = session.tool.home.path + "/state/kii-push/profiles/default/profile.json"
        try #require(chmod(path, 0o622) == 0)
        let result = try session.tool("subscriptions")
        #expect(result.exit == 78)
        #expect(result.error.hasPrefix("kii-push: \(path) can be written by others (mode 622)"), "\(result.error)")
    }

    // MARK: - Foreign files in place of ours

    /// Both are made before the run, at the path that it writes. A pipe used to block the tool for ever.
    @Test(arguments: ["link", "pipe"])
    func metricsAreWrittenThroughNothingThatIsThereAlready(obstacle: String) throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        let metrics = session.tool.home.path + "/kii.prom"
        let victim = try session.tool.write("kept", to: "victim")
        if obstacle == "link" {
            try FileManager.default.createSymbolicLink(atPath: metrics + ".tmp", withDestinationPath: victim)
        } else {
            try #require(mkfifo(metrics + ".tmp", 0o600) == 0)
        }
        let run = try session.ready(["run", "--exec", "true", "--metrics-file", metrics])
        run.stop()
        #expect(try String(contentsOfFile: metrics, encoding: .utf8).contains("\nkii_push_connections_total 1\n"))
        #expect(try String(contentsOfFile: victim, encoding: .utf8) == "kept")
        var status = stat()
        #expect(stat(victim, &status) == 0 && status.st_mode & 0o777 == 0o600)
    }

    @Test(arguments: ["pipe", "folder"])
    func metricsReplaceAFileAndNothingElse(obstacle: String) throws {
        let path = self.tool.home.path + "/kii.prom"
        let isMade = obstacle == "pipe" ? mkfifo(path, 0o600) : mkdir(path, 0o700)
        try #require(isMade == 0)
        let session = try EmulatorSession()
        try session.succeed("register")
        let result = try session.tool("run", "--exec", "true", "--metrics-file", path)
        #expect(result.exit == 78)
        #expect(result.error.contains("\(path) is a link or not a regular file"), "\(result.error)")
    }

    /// The file might hold other data than metrics.
    @Test func metricsDoNotReplaceAFileThatCannotBeRead() throws {
        let path = try self.tool.write("kept", to: "kii.prom", mode: 0)
        let session = try EmulatorSession()
        try session.succeed("register")
        // Root can read every file unless it lacks these capabilities.
        let reading = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]
        let words = try (geteuid() == 0 ? reading : []) + [Tool.executable.path]
        let result = try RunningTool(
            words + ["run", "--exec", "true", "--metrics-file", path], environment: session.tool.environment
        ).waitForExit()
        #expect(result.exit == 73)
        #expect(result.error.contains("cannot read \(path), which would be replaced"), "\(result.error)")
        try #require(chmod(path, 0o600) == 0)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "kept")
    }

    @Test(arguments: ["link", "pipe"])
    func theEmulatorsFileIsAFile(obstacle: String) throws {
        let path = self.tool.home.path + "/run/kii-push/emulator.json"
        if obstacle == "link" {
            let target = try self.tool.write("{}", to: "elsewhere")
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
        } else {
            try #require(mkfifo(path, 0o600) == 0)
        }
        let result = try self.tool("register")
        #expect(result.exit == 78)
        #expect(result.error == "kii-push: \(path) is a link or not a regular file; put a regular file in its place\n")
    }

    @Test(arguments: ["link", "pipe"])
    func theInboxIsAFile(obstacle: String) throws {
        let directory = self.tool.home.path
        if obstacle == "link" {
            let target = try self.tool.write("", to: "elsewhere")
            try FileManager.default.createSymbolicLink(
                atPath: directory + "/inbox.sqlite", withDestinationPath: target)
        } else {
            try #require(mkfifo(directory + "/inbox.sqlite", 0o600) == 0)
        }
        let result = try self.tool("inbox", "list", "--state-directory", directory)
        #expect(result.exit == 74)
        #expect(result.error.contains("it is a link or not a regular file"), "\(result.error)")
    }

    // MARK: - A stopped emulator

    private func runtimeFile(processID: Int32, startTime: UInt64) throws {
        let boot = try #require(ProcessIdentity(of: getpid())).boot
        let text = """
            {"version":1,"baseURL":"http://127.0.0.1:1/api","appID":"a","appKey":"k","clientID":"c",\
            "clientSecret":"s","mqttPort":1,"mqttTLSPort":1,"pid":\(processID),\
            "startTime":\(startTime),"bootID":"\(boot)"}
            """
        try self.tool.write(text, to: "run/kii-push/emulator.json")
    }

    @Test func theProcessThatWroteTheFileIsTheEmulator() throws {
        let own = try #require(ProcessIdentity(of: getpid()))
        try self.runtimeFile(processID: own.processID, startTime: own.startTime)
        #expect(try self.tool("register").exit == 69)
    }

    @Test func aLaterProcessOfTheSameIDIsNotTheEmulator() throws {
        let own = try #require(ProcessIdentity(of: getpid()))
        try self.runtimeFile(processID: own.processID, startTime: own.startTime - 1)
        let result = try self.tool("register")
        #expect(result.exit == 78)
        #expect(result.error.hasPrefix("kii-push: no cloud is configured, and no emulator is running\n"))
    }

    @Test(.enabled(if: geteuid() == 0, "only root can become another user"))
    func theProcessOfAnotherUserIsNotTheEmulator() throws {
        let other = try RunningTool(
            ["setpriv", "--reuid=65534", "--clear-groups", "sh", "-c", "echo ready; exec sleep 1000"],
            environment: self.tool.environment)
        #expect(other.output(containing: "ready").contains("ready"))
        defer { other.signal(SIGKILL) }
        let process = try #require(ProcessIdentity(of: other.processID))
        try self.runtimeFile(processID: process.processID, startTime: process.startTime)
        let result = try self.tool("register")
        #expect(result.exit == 78)
        #expect(result.error.hasPrefix("kii-push: no cloud is configured, and no emulator is running\n"))
    }
}
