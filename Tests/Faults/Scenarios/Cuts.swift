import KiiPushCore

// The connection is cut while messages come.
extension Scenario {
    static func cut(messages: Int, cuts: Int) -> Scenario {
        Scenario("cut", "the connection is cut by RST and FIN in turn, after a delivery or in place of a PUBACK") {
            play in
            try play.receiver.start()
            try await play.sendAndCut(messages: messages, cuts: cuts, atOnce: true)
            try await play.finish()
            return "\(play.traffic.cuts) cuts"
        }
    }

    /// RabbitMQ's way: what is redelivered has other packet identifiers, which others had before.
    static func renumber(messages: Int, cuts: Int) -> Scenario {
        Scenario("renumber", "each connection counts packet IDs anew, so a redelivery has another one; cuts") { play in
            await play.proxy.change { $0.renumbersPackets = true }
            try play.receiver.start()
            try await play.sendAndCut(messages: messages, cuts: cuts, atOnce: false)
            try await play.finish()
            return "\(play.traffic.cuts) cuts"
        }
    }

    /// The agent has stored and acknowledged, the broker never learns it and delivers again: to the same process, or to
    /// the next one.
    static func lostAcknowledgement(rounds: Int) -> Scenario {
        Scenario("lost-puback", "a PUBACK is lost with its connection, every other time the process is killed too") {
            play in
            try play.receiver.start()
            let batch = 10
            for round in 0..<rounds {
                let nth = Int.random(in: 1...batch, using: &play.random)
                let lost = await play.proxy.arm(PacketRule(.puback, .toBroker, nth: nth, .cutInstead(.reset)))
                try await play.send(round * batch + 1...(round + 1) * batch)
                play.expect(
                    try await play.observation.wait { _ in lost.hasHappened }, "PUBACK \(nth) never came")
                guard round % 2 == 1 else { continue }
                // The answers are stored first: what is handled twice now was redelivered.
                _ = try await play.waitUntilAccounted()
                let state = play.bench.state
                _ = try await play.observation.wait { _ in try InboxReading(state: state).open == 0 }
                await play.receiver.kill()
                try play.receiver.start()
            }
            try await play.finish()
            let again = play.observation.log.endedCount - rounds * batch
            play.expect(again == 0, "\(again) messages handled again")
            let redelivered = play.traffic.deliveries.values.reduce(0) { $0 + $1.count - 1 }
            play.expect(redelivered >= rounds, "\(redelivered) redeliveries")
            return "\(rounds) PUBACKs, \(redelivered) redeliveries"
        }
    }

    /// Messages whose bytes are equal are messages all the same.
    static func equal(rounds: [Int]) -> Scenario {
        Scenario("equal", "forty equal messages wait, some are taken, the link is cut: forty have to be handled") {
            play in
            for (round, taken) in rounds.enumerated() {
                // Nobody is there while they are queued.
                await play.proxy.change { $0.refusesConnections = true }
                await play.proxy.cut(.reset)
                try await play.publish(repeatElement(round + 1, count: 40))
                let action: PacketRule.Action = round % 2 == 0 ? .cutAfter(.reset) : .cutAfter(.close)
                let cut = await play.proxy.arm(PacketRule(.publish, .toReceiver, nth: taken, action))
                await play.proxy.change { $0.refusesConnections = false }
                if round == 0 { try play.receiver.start() }
                play.expect(try await play.observation.wait { _ in cut.hasHappened }, "no cut in round \(round + 1)")
                _ = try await play.waitUntilAccounted()
            }
            try await play.finish()
            return "\(rounds.count) cuts"
        }
    }
}

extension Play {
    /// Sends in batches and cuts once in each, half of the times after a PUBLISH, half of the times before a PUBACK.
    ///
    /// - Parameter atOnce: whether the next batch follows as soon as the connection is cut, rather than when all is
    ///   handled. What is not acknowledged then adds up.
    fileprivate mutating func sendAndCut(messages: Int, cuts: Int, atOnce: Bool) async throws {
        let batch = messages / cuts
        // With QoS 2 that is the last word about a message.
        let acknowledgement: MQTTPacketType = self.kind.qos == .exactlyOnce ? .pubcomp : .puback
        for cut in 0..<cuts {
            let how: Cut = cut % 2 == 0 ? .reset : .close
            let nth = Int.random(in: 1...max(1, batch / 2), using: &self.random)
            let rule =
                cut / 2 % 2 == 0
                ? PacketRule(.publish, .toReceiver, nth: nth, .cutAfter(how))
                : PacketRule(acknowledgement, .toBroker, nth: nth, .cutInstead(how))
            let firing = await self.proxy.arm(rule)
            try await self.send(cut * batch + 1...(cut + 1) * batch)
            // A receiver that does not come back meets no more rules.
            guard try await self.observation.wait(until: { _ in firing.hasHappened }) else { break }
            if !atOnce { _ = try await self.waitUntilAccounted() }
        }
        if self.kind.isOurs { self.expect(self.traffic.cuts == cuts, "\(self.traffic.cuts) cuts of \(cuts)") }
    }
}
