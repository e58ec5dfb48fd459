import Foundation
import TestSupport
import TestTraits
import Testing

@testable import KiiPushCore
@testable import kii_push

/// When a service manager's watchdog is fed.
@Suite(.ownThreads) struct WatchdogTests {
    /// What happened, in its order.
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
        // Offline, and honestly trying again.
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
            runtime: runtime, configuration: .init(app: app, account: .pseudoUser), handler: NoHandler())
        let gate = DispatchSemaphore(value: 0)
        let record = Record()
        // The thread is held up until the semaphore lets it go.
        #expect(runtime.loop.submit { gate.wait() })
        let health = Task {
            let health = try await agent.health()
            record.note("answered")
            return health
        }
        // What is submitted later runs later, so nothing was answered before this.
        record.note("let go")
        gate.signal()
        #expect(try await health.value == AgentHealth())
        #expect(record.lines.withLock { $0 } == ["let go", "answered"])
        await runtime.shutdown()
        await #expect(throws: TransportError.self) { try await agent.health() }
    }

    @Test func anAttemptThatIsNotOverIsOverdueAfterItsDeadline() {
        let notes = MessageNotes()
        let context = DeliveryContext(
            installationID: "i", messageID: 1, receivedAt: .now(), attempt: 1, deadlineInstant: .now() + .seconds(30))
        let command = ThingCommand(commandID: "c", actions: [:], rawPayload: [:])
        notes.begin(HandledMessage(command), context, isWatched: true)
        #expect(notes.overdue() == .zero)
        #expect(notes.inHand == 1)
        #expect(notes.overdue(at: .now + .seconds(95)) > .seconds(60))
        notes.end(1, attempt: 1, HandlerOutcome(target: "exec a", ending: .exit(0), elapsed: .zero))
        #expect(notes.overdue(at: .now + .seconds(95)) == .zero)
        #expect(notes.inHand == 0)
        notes.forget(1)
        #expect(notes.note(of: 1, attempt: 1) == nil)
    }

    @Test func anAttemptThatGoesOnWhileAnotherHasBegunIsOverdueStill() {
        let notes = MessageNotes()
        let command = HandledMessage(ThingCommand(commandID: "c", actions: [:], rawPayload: [:]))
        func context(_ attempt: Int, _ limit: Duration) -> DeliveryContext {
            DeliveryContext(
                installationID: "i", messageID: 1, receivedAt: .now(), attempt: attempt,
                deadlineInstant: .now() + limit)
        }
        let outcome = HandlerOutcome(target: "exec a", ending: .exit(0), elapsed: .zero)
        notes.begin(command, context(1, .seconds(30)), isWatched: true)
        // Its time is up, which is shown; then the next attempt is made, and comes to its end.
        notes.forget(1)
        notes.begin(command, context(2, .seconds(300)), isWatched: true)
        #expect(notes.inHand == 2)
        #expect(notes.note(of: 1, attempt: 2)?.attempt == 2)
        notes.end(1, attempt: 2, outcome)
        notes.forget(1)
        #expect(notes.inHand == 1)
        #expect(notes.overdue(at: .now + .seconds(95)) > .seconds(60))
        notes.end(1, attempt: 1, outcome)
        #expect(notes.inHand == 0)
        #expect(notes.note(of: 1, attempt: 1) == nil)
        #expect(notes.note(of: 1, attempt: 2) == nil)
    }

    @Test(arguments: [(nil, 60), (.seconds(5), 60), (.seconds(15), 60), (.seconds(300), 630)] as [(Duration?, Int)])
    func aLongGraceIsWaitedFor(grace: Duration?, overdue: Int) {
        let limits = Watchdog.Limits(grace: grace)
        #expect(limits.overdue == .seconds(overdue))
        #expect(self.watchdog.complaint(AgentHealth(), attemptOverdue: .seconds(overdue), limits) == nil)
        #expect(self.watchdog.complaint(AgentHealth(), attemptOverdue: .seconds(overdue + 1), limits) != nil)
    }
}
