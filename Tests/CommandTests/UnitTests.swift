import Foundation
import Glibc
import TestTraits
import Testing

@testable import KiiPushCommandLine
@testable import kii_push

@Suite(.ownThreads) struct UnitTests {
    private let tool: Tool

    init() throws { self.tool = try Tool() }

    private func systemd(_ words: [String]) throws -> Tool.Result {
        try RunningTool(["/usr/bin/systemd-analyze"] + words, environment: self.tool.environment).waitForExit()
    }

    @Test(arguments: [UnitFile.Kind.system, .user])
    func systemdFindsNothingWrong(kind: UnitFile.Kind) throws {
        let result = try self.tool(
            "install-unit", "--\(kind.rawValue)", "--directory", self.tool.home.path + "/units", "-p", "meter.1")
        #expect(result.exit == 0, "\(result.error)")
        let path = self.tool.home.path + "/units/kii-push-meter.1.service"
        #expect(result.output == path + "\n")
        let verdict = try self.systemd([kind == .user ? "--user" : "--system", "verify", path])
        #expect(verdict.exit == 0)
        #expect(verdict.error == "")
        #expect(verdict.output == "")
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o644)
    }

    @Test func theUnitOfTheMachineIsHeldToLittle() throws {
        let directory = self.tool.home.path + "/units"
        #expect(try self.tool("install-unit", "--directory", directory).exit == 0)
        // Fails above the threshold, in tenths.
        let verdict = try self.systemd([
            "security", "--offline=true", "--threshold=20", "--no-pager", directory + "/kii-push.service",
        ])
        #expect(verdict.exit == 0, "\(verdict.output.suffix(200))")
        let loose = try self.systemd([
            "security", "--offline=true", "--threshold=5", "--no-pager", directory + "/kii-push.service",
        ])
        #expect(loose.exit != 0, "the threshold says nothing")
    }

    @Test func whatItStartsIsThisProgramWithItsProfile() throws {
        let text = try self.tool("install-unit", "--print", "-p", "meter").output
        let program = try Tool.executable.path
        for line in [
            "Type=notify", "ExecStart=\(program) run --profile meter", "ExecReload=/bin/kill -HUP $MAINPID",
            "WatchdogSec=60", "LimitCORE=0", "Restart=on-failure", "RestartPreventExitStatus=64 76 77 78",
            "DynamicUser=yes", "OOMPolicy=continue",
            "StateDirectory=kii-push", "ProtectSystem=strict", "NoNewPrivileges=yes", "KillMode=mixed",
            "LoadCredential=kii-push-credentials.json:/etc/kii-push/credentials.json", "User=kii-push",
            #"SetCredential=kii-push-credentials.json:{"version":1}"#, "AssertFileIsExecutable=\(program)",
            "RuntimeDirectory=kii-push", "RuntimeDirectoryPreserve=yes",
            "Environment=HOME=%S/kii-push", "Environment=LIBDISPATCH_LOG=NO",
        ] {
            #expect(text.split(separator: "\n").contains { $0 == line }, "\(line)")
        }
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let path = package.appending(path: "Packaging/debian/kii-push-gateway@.service")
        let gateway = try String(contentsOf: path, encoding: .utf8)
        #expect(gateway.contains("\nRestartPreventExitStatus=64 76 77 78\n"))
        // systemd restarts after a failed ExecStartPre= whatever its exit status.
        #expect(!text.contains("ExecStartPre"))
        let user = try self.tool("install-unit", "--print", "--user").output
        #expect(user.contains("\nRuntimeDirectory=kii-push\n"))
        #expect(user.contains("\nLimitCORE=0\n"))
        #expect(user.contains("\nEnvironment=LIBDISPATCH_LOG=NO\n"))
        #expect(user.contains("After=dbus.socket\n"))
        #expect(!user.contains("DynamicUser"))
        #expect(user.contains("\nAssertFileIsExecutable=\(program)\n"))
    }

    @Test func itSaysWhatIsNotThereYet() throws {
        let there = ["config.json", "credentials.json"].map { "/etc/kii-push/\($0)" }
        let missing = there.filter { !FileManager.default.fileExists(atPath: $0) }
        let files = missing.joined(separator: " and ")
        let writing = missing.isEmpty ? "" : "write \(files) ('kii-push help files'), then "
        let result = try self.tool("install-unit", "--directory", self.tool.home.path + "/units")
        // If the program is in one user's folder, a note before this text says that the service cannot see it.
        let next = "next: \(writing)systemctl daemon-reload && systemctl enable --now kii-push.service\n"
        #expect(result.error.hasSuffix(next), "\(result.error)")
        let user = try self.tool("install-unit", "--user")
        #expect(
            user.error == "next: systemctl --user daemon-reload && systemctl --user enable --now kii-push.service\n")
    }

    @Test func anothersFileIsLeftAlone() throws {
        let path = self.tool.home.path + "/config/systemd/user/kii-push.service"
        #expect(try self.tool("install-unit", "--user").output == path + "\n")
        let written = try String(contentsOfFile: path, encoding: .utf8)
        #expect(try self.tool("install-unit", "--user").output == path + " is as it should be\n")
        try Data("[Service]\n".utf8).write(to: URL(filePath: path))
        let refused = try self.tool("install-unit", "--user")
        #expect(refused.exit == 73)
        #expect(refused.error.contains("\(path) is there and says something else"))
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "[Service]\n")
        #expect(try self.tool("install-unit", "--user", "--force").exit == 0)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == written)
    }

    @Test func aRelativeDirectoryIsBelowTheWorkingOne() throws {
        let name = "units-\(UUID().uuidString)"
        let line = #"cd "$HOME" && exec "$TOOL" install-unit --directory "$NAME/deep""#
        let environment = try self.tool.environment.merging(["TOOL": Tool.executable.path, "NAME": name]) { $1 }
        let result = try RunningTool(["/bin/sh", "-c", line], environment: environment).waitForExit()
        #expect(result.exit == 0, "\(result.error)")
        #expect(result.output == "\(name)/deep/kii-push.service\n")
        #expect(FileManager.default.fileExists(atPath: "\(self.tool.home.path)/\(name)/deep/kii-push.service"))
        #expect(!FileManager.default.fileExists(atPath: "/\(name)"))
    }

    @Test func aPathThatWouldBeginAnotherSettingIsRefused() throws {
        let folder = self.tool.home.path + "/a\nExecStartPre=/bin/false"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Tool.copyExecutable(to: folder + "/kii-push")
        let result = try RunningTool(
            [folder + "/kii-push", "install-unit", "--print"], environment: self.tool.environment
        ).waitForExit()
        #expect(result.exit == 78)
        #expect(result.output == "")
        #expect(result.error.contains("the path holds a line end or a control character"), "\(result.error)")
    }

    @Test func wordsAreWrittenSoThatSystemdReadsThemBack() {
        let unit = UnitFile(kind: .system, profile: "default", program: #"/opt/50% "$HOME"\x/kii-push"#)
        #expect(unit.text.contains(#"ExecStart="/opt/50%% \"$$HOME\"\\x/kii-push" run --profile default"#))
        #expect(unit.text.contains("\n" + #"AssertFileIsExecutable=/opt/50%% "$HOME"\x/kii-push"# + "\n"))
    }

    @Test(arguments: [
        (["--system", "--user"], "'--system' and '--user' exclude each other"),
        (["--print", "--force"], "'--print' and '--force' exclude each other"),
        (["--directory", ""], "'--directory' names no directory"),
    ])
    func contradictionsAreRefused(words: [String], message: String) throws {
        let result = try self.tool.start(["install-unit"] + words).waitForExit()
        #expect(result.exit == 64)
        #expect(result.error.contains(message))
    }
}
