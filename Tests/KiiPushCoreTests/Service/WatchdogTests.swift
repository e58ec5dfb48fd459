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

    private func interval(_ microseconds: String?, _ processID: String?) -> Duration? {
        Watchdog(
            ServiceNotifier(path: nil), microseconds: microseconds, processID: processID, ownProcessID: 7
        ).interval
    }

    @Test func isFedAtHalfOfTheTime() {
        #expect(self.interval("60000000", nil) == .seconds(30))
        #expect(self.interval("60000000", "7") == .seconds(30))
    }

    @Test(arguments: [
        (nil, nil), ("", nil), ("0", nil), ("1", nil), ("-5", nil), ("x", nil), ("60000000", "8"), ("60000000", "x"),
    ])
    func isNobodysWhereNobodyWants(microseconds: String?, processID: String?) {
        #expect(self.interval(microseconds, processID) == nil)
    }

    @Test(
        arguments: [
            // The first row: an agent without a connection, which retries.
            (nil, 0, nil), (80, 30, nil), (101, 0, "the broker has not been heard for 101 s"),
            (nil, 61, "a handler is 61 s over its time"), (nil, 300, "a handler is 5 min over its time"),
        ] as [(Int?, Int, String?)])
    func complainsAboutWhatIsNotAlive(silence: Int?, overdue: Int, complaint: String?) {
        let limits = Watchdog.Limits()
        #expect(limits.complaint(silence: silence.map { .seconds($0) }, overdue: .seconds(overdue)) == complaint)
    }

    /// An agent that has connected nowhere.
    private func withAgent(_ body: (PushRuntime, PushAgent) async throws -> Void) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "kii-push-tests-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        let runtime = try PushRuntime(configuration: .init(stateDirectory: directory.path))
        let app = KiiApp(appID: "app", appKey: Secret("key"), baseURL: "http://127.0.0.1:1/api")
        let agent = PushAgent(
            runtime: runtime, configuration: .init(app: app, account: .pseudoUser)
        ) { _, _ in .noData }
        try await body(runtime, agent)
        await runtime.shutdown()
    }

    @Test func isNotFedWhileThereIsAComplaintWhichIsSaidOnce() async throws {
        try await self.withAgent { _, agent in
            let manager = try DatagramReceiver("@kii-push-test-\(UUID().uuidString)")
            let watchdog = Watchdog(
                ServiceNotifier(path: manager.path), microseconds: "2", processID: nil, ownProcessID: 7)
            // In minutes; the last one lasts.
            let lateness = Locked([0, 5, 5, 0, 5])
            let overdue = { @Sendable () -> Duration in
                .seconds(60 * lateness.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] })
            }
            watchdog.begin(.init([agent], overdue: overdue) { "Connected." })
            let record = Record()
            let feeding = Task { await watchdog.feed { record.note($0 ?? "recovered") } }
            let complaint = "a handler is 5 min over its time"
            #expect(
                manager.wait { $0.count >= 5 } == [
                    "WATCHDOG=1", "STATUS=not alive: \(complaint)", "STATUS=Connected.", "WATCHDOG=1",
                    "STATUS=not alive: \(complaint)",
                ])
            feeding.cancel()
            await feeding.value
            #expect(record.lines.withLock { $0 } == [complaint, "recovered", complaint])
        }
    }

    @Test func isNotFedWhileTheNetworkThreadDoesNotTurn() async throws {
        try await self.withAgent { runtime, agent in
            let gate = DispatchSemaphore(value: 0)
            let record = Record()
            // The semaphore blocks the thread.
            #expect(runtime.loop.submit { gate.wait() })
            let health = Task {
                let health = try await agent.health()
                record.note("answered")
                return health
            }
            // The question waits behind the blocked call, so it has no answer yet.
            record.note("let go")
            gate.signal()
            let (silence, overdue) = try await health.value
            #expect(silence == nil)
            #expect(overdue == .zero)
            #expect(record.lines.withLock { $0 } == ["let go", "answered"])
            await runtime.shutdown()
            await #expect(throws: TransportError.self) { try await agent.health() }
        }
    }

    @Test(arguments: [(nil, 60), (.seconds(5), 60), (.seconds(15), 60), (.seconds(300), 630)] as [(Duration?, Int)])
    func aLongGraceIsWaitedFor(grace: Duration?, overdue: Int) {
        let limits = Watchdog.Limits(grace: grace)
        #expect(limits.overdue == .seconds(overdue))
        #expect(limits.complaint(silence: nil, overdue: .seconds(overdue)) == nil)
        #expect(limits.complaint(silence: nil, overdue: .seconds(overdue + 1)) != nil)
    }
}
