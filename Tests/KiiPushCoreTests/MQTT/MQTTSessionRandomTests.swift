import FuzzTargets
import KiiPushCore
import SeededNumbers
import Testing

@Suite struct MQTTSessionRandomTests {
    static func packets(_ random: inout SeededGenerator) -> [MQTTPacket] {
        let packetID = UInt16.random(in: 1...20, using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<60:
            return (0..<Int.random(in: 1...5, using: &random)).map { _ in
                .publish(
                    String(repeating: "x", count: Int.random(in: 0...30, using: &random)),
                    Bool.random(using: &random) ? UInt16.random(in: 1...20, using: &random) : nil,
                    duplicate: Bool.random(using: &random))
            }
        case 60..<88: return [.pingresp]
        case 88..<92: return [.pubrel(packetID: packetID)]
        case 92..<97: return [.publish(MQTTPublish(topic: "t", payload: [], qos: .exactlyOnce, packetID: packetID))]
        case 97: return [.granted(nil)]
        case 98: return [.connack(MQTTConnack(code: ConnackCode(rawValue: UInt8(packetID % 7))))]
        default: return GoldenPacket.all.randomElement(using: &random).map { [$0.packet] } ?? []
        }
    }

    static func configuration(_ random: inout SeededGenerator) -> MQTTSession.Configuration {
        var configuration = MQTTSession.Configuration(clientID: "t", topicFilter: "t")
        configuration.keepAlive = .seconds(Int.random(in: 0...2, using: &random) * 5)
        configuration.redeliveryWindow = .seconds(Int.random(in: 0...100, using: &random))
        configuration.cleanSession = Bool.random(using: &random)
        configuration.protocolVersion = Bool.random(using: &random) ? .v3_1_1 : .v3_1
        configuration.maximumPacketBytes = Int.random(in: 20...60, using: &random)
        configuration.maximumUnprovenAcknowledgements = Int.random(in: 1...10, using: &random)
        configuration.expectsSession = Bool.random(using: &random)
        return configuration
    }

    /// Usually an owed ticket, sometimes one that is acknowledged, obsolete or not yet used.
    private static func ticket(_ session: MQTTSession, _ random: inout SeededGenerator) -> UInt64 {
        let first = session.firstUnacknowledgedTicket
        return UInt64.random(in: max(first, 3) - 3...session.nextTicket + 1, using: &random)
    }

    private static func run(seed: UInt64, steps: Int) -> SessionModel {
        var random = SeededGenerator(seed: seed)
        var session = MQTTSession(configuration: Self.configuration(&random))
        var model = SessionModel()
        var now = MonotonicInstant(nanoseconds: 0)
        var pending: [UInt8] = []
        for step in 0..<steps {
            now = now + .milliseconds(Int.random(in: 0...200, using: &random))
            var output = MQTTSession.Output()
            let reopens = !model.isOpen && Bool.random(using: &random)
            switch reopens ? 0 : Int.random(in: 0..<100, using: &random) {
            case 0:
                model.connectionOpened()
                pending = []
                session.transportConnected(now: now, into: &output)
                if Int.random(in: 0..<10, using: &random) > 0 {
                    pending = [
                        MQTTPacket.accepted(sessionPresent: Bool.random(using: &random)), .granted(.atLeastOnce),
                    ]
                    .flatMap(\.bytes)
                }
            case 1:
                model.connectionGone()
                model.isOpen = false
                session.transportClosed()
            case 2..<60:
                if pending.isEmpty { pending = Self.packets(&random).flatMap(\.bytes) }
                if Int.random(in: 0..<200, using: &random) == 0 { pending.insert(0xFF, at: 0) }
                let count = min(pending.count, Int.random(in: 1...80, using: &random))
                let bytes = Array(pending.prefix(count))
                pending.removeFirst(count)
                bytes.withUnsafeBytes { session.received($0, now: now, into: &output) }
            case 60..<75:
                let ticket = Self.ticket(session, &random)
                model.opened(ticket...ticket)
                session.acknowledge(ticket: ticket, into: &output)
            case 75..<85:
                let ticket = Self.ticket(session, &random)
                if model.owed.contains(where: { $0.ticket == ticket }) { model.opened(0...ticket) }
                session.acknowledge(through: ticket, into: &output)
            case 85..<97:
                if Bool.random(using: &random), let deadline = session.nextDeadline { now = max(now, deadline) }
                session.timerFired(now: now, into: &output)
                if let deadline = session.nextDeadline, deadline <= now {
                    Issue.record("seed \(seed), step \(step): the timer spins")
                    return model
                }
            case 97..<99:
                session.readingPaused(Bool.random(using: &random), now: now)
            default:
                session.disconnect(into: &output)
            }
            var violations = model.violations(output)
            if model.isOpen, session.unacknowledgedCount != model.owed.count { violations.append("the queue is known") }
            if !violations.isEmpty {
                Issue.record("seed \(seed), step \(step): \(violations)")
                return model
            }
        }
        return model
    }

    @Test(arguments: 0..<8)
    func invariantsHoldWhateverHappens(part: Int) {
        var acknowledged = 0
        var proven = 0
        var subscribed = 0
        var ends = 0
        for seed in 0..<50 {
            let model = Self.run(seed: UInt64(part * 50 + seed), steps: 400)
            acknowledged += model.acknowledged
            proven += model.proven
            subscribed += model.subscribed
            ends += model.ends
        }
        // The runs together must have done enough to mean something.
        #expect(acknowledged > 500)
        #expect(proven > 50)
        #expect(subscribed > 200)
        #expect(ends > 200)
    }
}
