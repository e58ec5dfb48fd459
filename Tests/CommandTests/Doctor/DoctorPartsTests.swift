import KiiPushCore
import TestTraits
import Testing

@testable import KiiPushCommandLine
@testable import kii_push

@Suite(.ownThreads) struct DoctorPartsTests {
    @Test(arguments: [
        ("https://api-jp.kii.com/api", "api-jp.kii.com", 443, true),
        ("http://127.0.0.1:8080/api", "127.0.0.1", 8080, false),
        ("HTTPS://[::1]:8443/api/", "::1", 8443, true), ("http://[fe80::1]/api", "fe80::1", 80, false),
    ])
    func findsTheServerOfAnAddress(url: String, host: String, port: UInt16, usesTLS: Bool) throws {
        let origin = try #require(KiiApp(appID: "a", appKey: "k", baseURL: url).origin)
        #expect((origin.host, origin.port, origin.usesTLS) == (host, port, usesTLS))
    }

    @Test(arguments: ["ftp://kii.com", "https://", "https://user@kii.com/api", "http://kii.com:70000/api"])
    func anAddressThatCannotBeUsedHasNoServer(url: String) {
        #expect(KiiApp(appID: "a", appKey: "k", baseURL: url).origin == nil)
    }

    @Test func tellsWhatTheProgramRunsIn() {
        let unit = [
            "INVOCATION_ID": "1", "NOTIFY_SOCKET": "/run/n", "WATCHDOG_USEC": "60000000", "XDG_RUNTIME_DIR": "/r",
        ]
        let service = ServiceContext.finding(
            variable: { unit[$0] }, groups: "0::/system.slice/kii-push.service\n", exists: { $0 == "/r/bus" })
        #expect(service.evidence == "systemd unit kii-push.service; readiness is awaited; watchdog 60 s; a session bus")
        let contained = ServiceContext.finding(
            variable: { _ in nil }, groups: "0::/\n", exists: { $0 == "/.dockerenv" })
        #expect(contained.evidence.hasPrefix("no unit of systemd; in a container; no session bus"))
        #expect(service.outcome == .ok && contained.outcome == .ok)
    }

    @Test func aCheckThatNeedsAFailedOneIsSkippedAndSaysSo() async throws {
        var examination = Examination(time: .seconds(600)) { _ in }
        try examination.note(Check.Key(.dns, .cloud), .failed("none", fix: "f", exit: .unreachable))
        try await examination.check(Check.Key(.app), after: [Check.Key(.dns, .cloud)]) {
            Issue.record("made all the same")
            return .ok("")
        }
        try await examination.check(Check.Key(.signIn), after: [Check.Key(.app)]) { .ok("") }
        try examination.note(Check.Key(.inbox), .needless("none yet"))
        try examination.note(Check.Key(.connack), after: [Check.Key(.inbox)], .ok("accepted"))
        #expect(
            examination.checks.map(\.finding.evidence)
                == ["none", "needs DNS cloud, which failed", "needs APP, which was skipped", "none yet", "accepted"])
        #expect(examination.firstFailure?.key == Check.Key(.dns, .cloud))
    }

    @Test func aPortThatIsSwallowedIsAWarningWhereWebSocketGetsThrough() throws {
        var checks = NetworkChecks(
            server: .broker, host: "h", port: 443, usesTLS: true, usesProxy: false, isInsecure: false, report: nil,
            failure: nil, now: .now())
        checks.swallowedPort = 8883
        var examination = Examination(time: .seconds(600)) { _ in }
        try checks.note(in: &examination)
        let finding = try #require(examination.checks.first { $0.key == Check.Key(.tcp, .broker) }?.finding)
        #expect(finding.outcome == .warning)
        #expect(finding.evidence == "nothing gets through to h:8883, and WebSocket does at h:443")
        let way = [CheckCode.tcp, .tlsChain, .tlsName].map { Check.Key($0, .broker) }
        #expect(examination.isClear(way))
    }

    @Test func aCheckThatTakesTooLongIsCancelled() async throws {
        // A busy process may spend the time of all checks; then the check counts as not carried out, and the loop
        // repeats it.
        var examination = Examination(time: .zero) { _ in }
        while examination.checks.first?.finding.outcome != .failed {
            examination = Examination(time: .milliseconds(100)) { _ in }
            try await examination.check(Check.Key(.app)) {
                try await Task.sleep(for: .seconds(600))
                return .ok("")
            }
            let finding = try #require(examination.checks.first).finding
            #expect(finding.isInTheWay)
            #expect(finding.outcome == .failed || finding.evidence == "no time was left; allow more with --timeout")
        }
        while examination.checks.last?.finding.outcome != .skipped {
            try await examination.check(Check.Key(.signIn)) {
                try await Task.sleep(for: .seconds(600))
                return .ok("")
            }
        }
        #expect(examination.checks.last?.finding.evidence == "no time was left; allow more with --timeout")
    }
}
