import Foundation
import KiiPushCore
import TestSupport
import Testing

final class ManualClock: Sendable {
    private static let start = (monotonic: MonotonicInstant.now(), calendar: Clocks.machine.calendarNanoseconds())
    private let time = Locked(ManualClock.start.monotonic)

    var now: MonotonicInstant { self.time.withLock { $0 } }

    var clocks: Clocks {
        Clocks(
            monotonic: { self.now },
            calendarNanoseconds: {
                ManualClock.start.calendar + (self.now.nanoseconds - ManualClock.start.monotonic.nanoseconds)
            })
    }

    func advance(_ duration: Duration) { self.time.withLock { $0 = $0 + duration } }
}

/// The broker and the state directory that several agents of a test use in turn.
struct MisuseScene {
    fileprivate let directory: String
    fileprivate let broker: FakeBroker
    fileprivate let configuration: PushAgent.Configuration

    /// Runs an agent with `handler` until `body` returns. By default a message has two attempts. With `endsInHandler`,
    /// the agent stops during a call, so the stage sends no last message.
    func play(
        _ handler: some NotificationHandler,
        _ change: (inout PushRuntime.Configuration) -> Void = { _ in },
        endsInHandler: Bool = false,
        _ body: @escaping @Sendable (MisuseStage) async throws -> Void
    ) async throws -> MisuseStage.Outcome {
        let clock = ManualClock()
        var settings = PushRuntime.Configuration(stateDirectory: self.directory)
        settings.environment.connectTimeout = .seconds(600)
        settings.retryDelays = [.seconds(1)]
        settings.environment.clocks = clock.clocks
        change(&settings)
        let runtime = try PushRuntime(configuration: settings)
        let agent = PushAgent(runtime: runtime, configuration: self.configuration, handler: handler, reconnect: .quick)
        let events = agent.events
        try await whileRunning(agent) { [broker] in
            let connection = try await broker.play { try $0.acceptSession() }
            let stage = MisuseStage(
                events: events, runtime: runtime, clock: clock, broker: broker, connection: connection)
            try await body(stage)
            if !endsInHandler { try await stage.expectThatTheAgentGoesOn() }
        }
        await runtime.shutdown()
        return try MisuseStage.Outcome(inStateDirectory: self.directory)
    }
}

func withMisuseScene(_ body: (MisuseScene) async throws -> Void) async throws {
    try await withTemporaryDirectory { directory in
        try await withFakeBroker(in: directory) { broker, _, configuration in
            try await body(MisuseScene(directory: directory, broker: broker, configuration: configuration))
        }
    }
}

struct MisuseStage: Sendable {
    let events: AsyncStream<PushEvent>
    private let runtime: PushRuntime
    private let clock: ManualClock
    private let broker: FakeBroker
    private let connection: FakeConnection

    struct Outcome {
        let rows: [Int64: StoredMessage]
        let ledger: MessageLedger
    }

    init(
        events: AsyncStream<PushEvent>, runtime: PushRuntime, clock: ManualClock, broker: FakeBroker,
        connection: FakeConnection
    ) {
        self.events = events
        self.runtime = runtime
        self.clock = clock
        self.broker = broker
        self.connection = connection
    }

    /// Sends a message of `source`, and waits for its acknowledgement.
    func send(_ number: Int, source: String = "a") async throws {
        let packet = MQTTPacket.message(number, of: source, packetID: UInt16(number))
        try await self.broker.play { [connection] _ in
            try connection.send(packet)
            #expect(try connection.receiveAcknowledgements(1) == [UInt16(number)])
        }
    }

    func advance(_ duration: Duration) {
        self.clock.advance(duration)
        self.runtime.deliveryTimeChanged()
    }

    /// The next events of all messages, up to the event for which `isLast` is true.
    func happenings(until isLast: (MessageEvent) -> Bool) async -> [MessageEvent] {
        var happened: [MessageEvent] = []
        for await event in self.events {
            guard case .message(let message) = event else { continue }
            happened.append(message)
            if isLast(message) { break }
        }
        return happened
    }

    /// The next events of one message, up to the event for which `isLast` is true, by default its end.
    func life(
        of messageID: Int64 = 1, until isLast: @escaping (MessageEvent.Kind) -> Bool = { $0.isEnd }
    ) async -> [MessageEvent.Kind] {
        await self.happenings { $0.messageID == messageID && isLast($0.kind) }
            .filter { $0.messageID == messageID }.map(\.kind)
    }

    /// Sends one more message of the same source, and expects that the handler gets it.
    fileprivate func expectThatTheAgentGoesOn() async throws {
        try await self.send(1000)
        let last = await self.happenings { event in
            if case .done(.newData, _, _) = event.kind { true } else { false }
        }.last
        #expect(last?.kind == .done(.newData, attempt: 1, isLate: false))
    }
}

extension MisuseStage.Outcome {
    fileprivate init(inStateDirectory directory: String) throws {
        var access = Inbox.Configuration()
        access.isReadOnly = true
        let inbox = try Inbox(path: "\(directory)/inbox.sqlite", configuration: access)
        let rows = try RowState.allCases.flatMap { try inbox.rows($0, limit: 100) }
        self.rows = Dictionary(uniqueKeysWithValues: rows.map { ($0.sequence, $0) })
        self.ledger = inbox.messageLedger
        #expect(self.ledger.isBalanced)
    }
}

extension MQTTPacket {
    static func message(_ number: Int, of source: String, packetID: UInt16, padding: Int = 0) -> MQTTPacket {
        let text = String(repeating: "x", count: padding)
        let payload =
            #"{"n":\#(number),"topic":"\#(source)","objectScopeType":"APP","objectScopeAppID":"app","p":"\#(text)"}"#
        return .publish(
            MQTTPublish(topic: "topic-1", payload: Array(payload.utf8), qos: .atLeastOnce, packetID: packetID))
    }
}

extension MessageEvent.Kind {
    var isRetry: Bool { if case .failed = self { true } else { false } }

    var isEnd: Bool {
        switch self {
        case .done, .dead: true
        default: false
        }
    }
}
