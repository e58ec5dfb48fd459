import Foundation
import Glibc
import KiiPushCore
import TestSupport
import TestTraits
import Testing

@testable import KiiPushCommandLine
@testable import kii_push

@Suite(.ownThreads) struct DoctorTests {
    private static let time = ["--timeout", "600s"]

    @Test func findsNothingWrongWithTheEmulator() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        let result = try session.tool.start(["doctor", "--json"] + Self.time).waitForExit()
        let report = try Report(result)
        #expect(report.exit == 0 && report.firstFailure == nil && result.error == "")
        // The remaining codes belong to kii-push-gateway, which checks a store and its gateways.
        let others: Set = ["PROXY", "STORE", "GATEWAYS"]
        let codes = Set(CheckCode.allCases.map(\.name)).subtracting(others)
        #expect(Set(report.checks.compactMap { $0["code"]?.string }) == codes)
        for check in report.checks {
            let isPlain = Report.name(check).hasPrefix("TLS-") && check["server"] == "cloud"
            #expect(check["outcome"] == (isPlain ? "skipped" : "ok"), "\(check)")
        }
        // The doctor consumed its own push: no handler got it.
        let stats = try session.succeed("inbox", "stats", "--json")
        let counts = try JSONValue(parsing: Array(stats.utf8))
        #expect(counts["received"] == 1 && counts["done"] == 1 && counts["waiting"] == 0)
    }

    @Test func whatMakesTheConfigurationUselessIsSaidOnce() throws {
        let world = try DoctorWorld()
        try world.register("default")
        for options in [["--cacert", "/nowhere/ca.pem"], ["--proxy", "nowhere:port"]] {
            let report = try world.doctor("default", options)
            let found = report.checks.filter { $0["code"] == "CONFIGURATION" }
            #expect(found.count == 1 && found.first?["outcome"] == "failed", "\(found)")
            #expect(report.exit == 78)
            #expect(report.check("STATE-DIRECTORY")?["outcome"] == "ok")
        }
    }

    @Test func whatArrivesMeanwhileWaitsForTheNextListener() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        try session.succeed("send", "user", "me", "--data", #"{"msg":"mine"}"#)
        let result = try session.tool.start(["doctor"] + Self.time).waitForExit()
        #expect(result.exit == 0, "\(result.output)")
        let heard = try session.succeed("listen", "-n", "1", "--json")
        #expect(heard.contains(#""custom":{"msg":"mine"}"#))
        #expect(!heard.contains("doctor-"))
    }

    @Test func doesNotKnockOffWhoReceives() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        let listener = try session.tool.start(["listen", "--json"])
        try #require(listener.output(containing: #""state":"connected""#).contains("connected"))
        let report = try Report(try session.tool.start(["doctor", "--json"] + Self.time).waitForExit())
        #expect(report.exit == 0)
        let connack = try #require(report.check("CONNACK"))
        #expect(connack["outcome"] == "ok")
        let process = "process \(listener.processID) receives as this profile, and "
        #expect(connack["evidence"]?.string == process + "is connected")
        #expect(report.check("SUBACK")?["outcome"] == "ok")
        #expect(report.check("ROUND-TRIP")?["outcome"] == "skipped")
        #expect(report.check("ROUND-TRIP")?["evidence"]?.string == process + "a second connection would knock it off")
        #expect(report.check("INSTALLATION")?["outcome"] == "ok")
        listener.signal(SIGTERM)
        let ended = listener.waitForExit()
        #expect(ended.exit == 0 && !ended.output.contains("offline"))
    }

    /// The receiving process cannot connect, though this command could.
    @Test func asksWhoReceivesHowItIs() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        let stranger = session.tool.home.path + "/stranger.pem"
        let line =
            "exec openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=stranger "
            + "-keyout '\(stranger).key' -out '\(stranger)'"
        #expect(try RunningTool(["sh", "-c", line], environment: session.tool.environment).waitForExit().exit == 0)
        let run = try session.tool.start(["run", "--exec", "true", "--cacert", stranger])
        #expect(run.error(containing: "offline").contains("certificate"))
        let report = try Report(try session.tool.start(["doctor", "--json"] + Self.time).waitForExit())
        #expect(report.exit == 69)
        #expect(report.check("TLS-CHAIN broker")?["outcome"] == "ok")
        let connack = try #require(report.check("CONNACK"))
        #expect(connack["outcome"] == "failed")
        let evidence = try #require(connack["evidence"]?.string)
        #expect(evidence.hasPrefix("process \(run.processID) receives as this profile, and is offline: "))
        #expect(evidence.contains("certificate"))
        run.stop()
    }

    @Test func saysWhatIsToBeDoneAndShowsNoSecret() throws {
        let tool = try Tool()
        let secret = "canary-4711"
        try tool.write(
            #"{"version":1,"profiles":{"default":{"baseURL":"http://127.0.0.1:1/api","appID":"a"}}}"#,
            to: "config/kii-push/config.json")
        let environment = ["KII_PUSH_APP_KEY": secret, "KII_PUSH_PASSWORD": secret]
        let result = try tool.start(["doctor"] + Self.time, environment: environment).waitForExit()
        #expect(result.exit == 69)
        #expect(result.output.contains("\nfailed   TCP cloud "))
        #expect(result.output.contains("\nskipped  APP                needs TCP cloud, which failed\n"))
        let fix = "see that the server runs at 127.0.0.1:1 and no firewall is between"
        #expect(result.output.contains("\nTCP cloud: \(fix)\n"))
        #expect(result.output.contains("\nwarning  CONFIGURATION "))
        #expect(!(result.output + result.error).contains(secret))
        let report = try Report(try tool.start(["doctor", "--json"], environment: environment).waitForExit())
        for check in report.checks {
            #expect(check["v"] == 1 && check["type"] == "check")
            #expect(check["title"]?.string != nil && check["evidence"]?.string != nil)
            #expect((check["outcome"] == "failed") == (check["exit"] != nil))
        }
    }

    @Test func deadLettersAreAWarning() throws {
        let session = try EmulatorSession()
        try session.succeed("register", "-p", "meter")
        try session.succeed("send", "user", "me", "--data", #"{"n":1}"#, "-p", "meter")
        let handler = session.tool.home.path + "/handler"
        try "#!/bin/sh\nexit 65\n".write(toFile: handler, atomically: true, encoding: .utf8)
        chmod(handler, 0o700)
        _ = try session.tool("listen", "-n1", "-t5m", "--exec", handler, "-p", "meter")
        let result = try session.tool.start(["doctor", "-p", "meter"] + Self.time).waitForExit()
        #expect(result.exit == 0, "\(result.output)")
        #expect(result.output.contains(/\nwarning  INBOX .*, 1 given up on\n/), "\(result.output)")
        #expect(
            result.output.contains(
                "\nINBOX: see why: kii-push inbox list --state dead --profile meter; then decide: kii-push inbox retry or "
                    + "drop --profile meter\n"), "\(result.output)")
    }

    /// A pseudo user has no password, so nobody can sign in as it again, not even the admin.
    @Test func aTokenThatAResetHasEndedIsNotTheAdminsMatter() async throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        try await session.control("POST", "reset")
        let result = try session.tool.start(["doctor"] + Self.time).waitForExit()
        #expect(result.exit == 77, "\(result.output)")
        #expect(
            result.output.hasSuffix(
                "\nSIGN-IN: 'kii-push register --anew' begins as another user; what is subscribed and waits for this one is "
                    + "lost then\n"), "\(result.output)")
        try session.succeed("register", "--anew")
        #expect(try session.tool.start(["doctor"] + Self.time).waitForExit().exit == 0)
    }

    @Test func anEmulatorThatWasStoppedIsNobodyWhoAcceptsConnections() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        _ = session.stop()
        let result = try session.tool.start(["doctor"] + Self.time).waitForExit()
        #expect(result.exit == 69)
        #expect(result.output.contains("\nok       CONFIGURATION      profile 'default', emulator\n"))
        #expect(result.output.contains("\nfailed   TCP cloud          profile 'default' belongs to the emulator, "))
        #expect(result.output.hasSuffix("\nTCP cloud: start it: kii-push emulator\n"))
    }

    @Test func takesNoLongerThanItIsGiven() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        // The server accepts connections and never answers.
        let silent = try Loopback.listening()
        defer { close(silent.descriptor) }
        let options = ["--base-url", "https://127.0.0.1:\(silent.port)/api", "--app-id", "kiilocal"]
        let result = try session.tool.start(
            ["doctor", "--json", "-p", "other", "--timeout", "40s"] + options, environment: ["KII_PUSH_APP_KEY": "k"]
        ).waitForExit()
        let report = try Report(result)
        #expect(report.exit == 69 && report.firstFailure == "TLS-CHAIN cloud", "\(report)")
        #expect(result.output.contains("it took the connection, and said nothing or ended it"))
    }
}
