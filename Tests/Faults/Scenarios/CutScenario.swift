import KiiPushCore

/// The connection is cut while messages come, by RST and by FIN in turn: half of the times after a delivery, half of the
/// times in place of an acknowledgement.
package struct CutScenario: Sendable {
    package var messages: Int
    package var cuts: Int

    package init(messages: Int, cuts: Int) {
        self.messages = messages
        self.cuts = cuts
    }

    func run(_ play: inout Play) async throws -> String {
        try play.receiver.start()
        let batch = self.messages / self.cuts
        // With QoS 2 that is the last word about a message.
        let acknowledgement: MQTTPacketType = play.kind.qos == .exactlyOnce ? .pubcomp : .puback
        for cut in 0..<self.cuts {
            let how: Cut = cut % 2 == 0 ? .reset : .close
            let nth = Int.random(in: 1...max(1, batch / 2), using: &play.random)
            let rule =
                cut / 2 % 2 == 0
                ? PacketRule(.publish, .toReceiver, nth: nth, .cutAfter(how))
                : PacketRule(acknowledgement, .toBroker, nth: nth, .cutInstead(how))
            let firing = await play.bench.proxy.arm(rule)
            try await play.send(cut * batch + 1...(cut + 1) * batch)
            // A receiver that does not come back meets no more rules.
            guard try await play.observation.wait(until: { _ in firing.hasHappened }) else { break }
        }
        try await play.finish()
        return "\(play.bench.proxy.traffic.cuts) cuts (RST, FIN)"
    }
}
