import Glibc
import KiiPushCore
import TestSupport
import Testing

/// A link that takes longer for what waits in the session than SUBACK may take.
@Suite struct SlowLinkTests {
    /// Takes the next client's connection up to SUBSCRIBE, which is not answered.
    private static func accept(_ broker: FakeBroker) throws -> FakeConnection {
        let connection = try broker.accept()
        _ = try connection.receive()
        try connection.send(.connack(MQTTConnack(sessionPresent: true, code: .accepted)))
        guard case .subscribe = try connection.receive() else { throw TestFailure("no SUBSCRIBE") }
        return connection
    }

    @Test func messagesThatArriveAheadOfSubackKeepTheConnection() async throws {
        let limit = Duration.seconds(2)
        try await withFakeBroker(configure: { $0.environment.connectTimeout = limit }) {
            broker, runtime, configuration in
            let agent = PushAgent(
                runtime: runtime, configuration: configuration, handler: RecordingHandler(), reconnect: .quick)
            let events = agent.events
            try await whileRunning(agent) {
                let kept = try await broker.play { broker in
                    let connection = try Self.accept(broker)
                    let begin = ContinuousClock.now
                    var number = 0
                    while ContinuousClock.now - begin < limit * 2 {
                        number += 1
                        try connection.send(.message(number, packetID: UInt16(number)))
                        guard try connection.receiveAcknowledgements(1) == [UInt16(number)] else {
                            throw TestFailure("another was acknowledged")
                        }
                        _ = poll(nil, 0, 100)
                    }
                    try connection.send(.suback(MQTTSuback(packetID: 1, grants: [.atLeastOnce])))
                    return connection
                }
                let said = await firstEvent(events) { event in
                    switch event {
                    case .connected, .disconnected: true
                    default: false
                    }
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
