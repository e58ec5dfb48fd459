import Foundation
import TestSupport
import TestTraits
import Testing

@testable import KiiPushCore

@Suite(.ownThreads) struct WatchdogTests {
    private final class Record: Sendable {
        let lines = Locked<[String]>([])
        func note(_ line: String) { self.lines.withLock { $0.append(line) } }
    }

    private let watchdog: Watchdog

    init() throws {
        self.watchdog = try #require(Watchdog(microseconds: "60000000", processID: nil, ownProcessID: 7))
    }

    @Test func isFedAtHalfOfTheTime() { #expect(self.watchdog.interval == .seconds(30)) }

    @Test(arguments: [
        (nil, nil), ("", nil), ("0", nil), ("1", nil), ("-5", nil), ("x", nil), ("60000000", "8"), ("60000000", "x"),
    ])
    func isNobodysWhereNobodyWants(microseconds: String?, processID: String?) {
        #expect(Watchdog(microseconds: microseconds, processID: processID, ownProcessID: 7) == nil)
    }

    @Test func isOursWhereItSaysSo() {
        #expect(Watchdog(microseconds: "60000000", processID: "7", ownProcessID: 7) != nil)
    }

    @Test(arguments: [
        (AgentHealth(), Duration.zero, nil),
        (AgentHealth(brokerSilence: .seconds(80)), .seconds(30), nil),
        (AgentHealth(brokerSilence: .seconds(101)), .zero, "the broker has not been heard for 101 s"),
        (AgentHealth(overdue: .seconds(61)), .zero, "a handler is 61 s over its time"),
        (AgentHealth(), .seconds(300), "a handler is 5 min over its time"),
    ])
    func complainsAboutWhatIsNotAlive(health: AgentHealth, overdue: Duration, complaint: String?) {
        #expect(self.watchdog.complaint(health, attemptOverdue: overdue, Watchdog.Limits()) == complaint)
    }

    @Test func isNotFedWhileThereIsAComplaintWhichIsSaidOnce() async {
        let record = Record()
        let checks = Locked<[String?]>([nil, "late", "late", nil, "late"])
        await self.watchdog.run(
            pause: { interval in
                #expect(interval == .seconds(30))
                if checks.withLock({ $0.isEmpty }) { throw CancellationError() }
            },
            check: { checks.withLock { $0.removeFirst() } }, feed: { record.note("fed") },
            complain: { record.note($0) }, recover: { record.note("recovered") })
        #expect(record.lines.withLock { $0 } == ["fed", "late", "recovered", "fed", "late"])
    }

    @Test func isNotFedWhileTheNetworkThreadDoesNotTurn() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "kii-push-tests-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        let runtime = try PushRuntime(configuration: .init(stateDirectory: directory.path))
        let app = KiiApp(appID: "app", appKey: Secret("key"), baseURL: "http://127.0.0.1:1/api")
        let agent = PushAgent(
            runtime: runtime, configuration: .init(app: app, account: .pseudoUser)
        ) { _, _ in .noData }
        let gate = DispatchSemaphore(value: 0)
        let record = Record()
        #expect(runtime.loop.submit { gate.wait() })
        let health = Task {
            let health = try await agent.health()
            record.note("answered")
            return health
        }
        // The question waits behind the blocked call, so it has no answer yet.
        record.note("let go")
        gate.signal()
        #expect(try await health.value == AgentHealth())
        #expect(record.lines.withLock { $0 } == ["let go", "answered"])
        await runtime.shutdown()
        await #expect(throws: TransportError.self) { try await agent.health() }
    }

    @Test(arguments: [(nil, 60), (.seconds(5), 60), (.seconds(15), 60), (.seconds(300), 630)] as [(Duration?, Int)])
    func aLongGraceIsWaitedFor(grace: Duration?, overdue: Int) {
        let limits = Watchdog.Limits(grace: grace)
        #expect(limits.overdue == .seconds(overdue))
        #expect(self.watchdog.complaint(AgentHealth(), attemptOverdue: .seconds(overdue), limits) == nil)
        #expect(self.watchdog.complaint(AgentHealth(), attemptOverdue: .seconds(overdue + 1), limits) != nil)
    }
}
