import Glibc
import KiiPushCore
import TestSupport
import Testing

/// A link on which the queued messages take longer than the timeout of SUBACK.
@Suite struct SlowLinkTests {
    /// Accepts the next client up to SUBSCRIBE, without an answer to SUBSCRIBE.
    private static func accept(_ broker: FakeBroker) throws -> FakeConnection {
        let connection = try broker.accept()
        _ = try connection.receive()
        try connection.send(.connack(MQTTConnack(sessionPresent: true, code: .accepted)))
        guard case .subscribe = try connection.receive() else { throw TestFailure("no SUBSCRIBE") }
        return connection
    }

    /// Sends a message every 0.1 s for `time`, and then SUBACK. The client gives up if no message arrives within
    /// `limit`.
    ///
    /// - Returns: the connection, and the number of earlier connections that ended because the machine was too slow.
    private static func bringMessages(
        for time: Duration, _ limit: Duration, _ broker: FakeBroker
    ) throws -> (kept: FakeConnection, stops: Int) {
        var (number, stops) = (0, 0)
        while true {
            var last: ContinuousClock.Instant?
            do {
                let connection = try Self.accept(broker)
                let begin = ContinuousClock.now
                while ContinuousClock.now - begin < time {
                    last = ContinuousClock.now
                    number += 1
                    try connection.send(.message(number, packetID: UInt16(number)))
                    guard try connection.receiveAcknowledgements(1) == [UInt16(number)] else {
                        throw TestFailure("another was acknowledged")
                    }
                    _ = poll(nil, 0, 100)
                }
                try connection.send(.suback(MQTTSuback(packetID: 1, grants: [.atLeastOnce])))
                return (connection, stops)
            } catch is FakeConnection.Closed where last.map({ ContinuousClock.now - $0 >= limit }) ?? true {
                stops += 1
            }
        }
    }

    @Test func messagesThatArriveAheadOfSubackKeepTheConnection() async throws {
        let limit = Duration.seconds(2)
        try await withFakeBroker(configure: { $0.environment.connectTimeout = limit }) {
            broker, runtime, configuration in
            let agent = PushAgent(
                runtime: runtime, configuration: configuration, handler: RecordingHandler(), reconnect: .quick)
            let events = agent.events
            try await whileRunning(agent) {
                let (kept, stops) = try await broker.play { try Self.bringMessages(for: limit * 2, limit, $0) }
                var losses = 0
                let said = await firstEvent(events) { event in
                    if case .connected = event { return true }
                    if case .disconnected = event { losses += 1 }
                    return losses > stops
                }
                guard case .connected = said else { throw TestFailure("\(String(describing: said))") }
                withExtendedLifetime(kept) {}
            }
        }
    }

    @Test func aConnectionThatBroughtMessagesIsNoFailedAttempt() async throws {
        try await withFakeBroker { broker, runtime, configuration in
            var reconnect = ReconnectPolicy.Configuration()
            reconnect.baseDelay = .milliseconds(10)
            reconnect.firstDelayAfterPeerLoss = .milliseconds(10)
            reconnect.pattern.closures = .max
            reconnect.pattern.repetitions = .max
            let agent = PushAgent(
                runtime: runtime, configuration: configuration, handler: RecordingHandler(), reconnect: reconnect)
            let events = agent.events
            try await whileRunning(agent) {
                try await broker.play { broker in
                    for number in 1...8 as ClosedRange<UInt16> {
                        let connection = try Self.accept(broker)
                        try connection.send(.message(Int(number), packetID: number))
                        _ = try connection.receiveAcknowledgements(1)
                        connection.reset()
                    }
                }
                var losses = 0
                for await case .disconnected(let reason, let delay) in events {
                    losses += 1
                    #expect(delay <= .milliseconds(10), "\(reason)")
                    if losses == 8 { break }
                }
            }
        }
    }
}
