import KiiPushCore
import KiiPushEmulator

// The connection is cut while messages come.
extension Scenario {
    static func cut(messages: Int, cuts: Int) -> Scenario {
        Scenario("cut", "the connection is cut by RST and FIN in turn, after a delivery or in place of a PUBACK") {
            play in
            try play.receiver.start()
            try await play.beginSession()
            try await play.sendAndCut(messages: messages, cuts: cuts, atOnce: true)
            try await play.finish()
            return "\(play.traffic.cuts) cuts"
        }
    }

    /// The same where an acknowledgement waits for its handler: a redelivery joins it.
    static func cutInMemory(messages: Int, cuts: Int) -> Scenario {
        var settings = AgentReceiver.Settings()
        settings.inbox = "memory"
        return Scenario("cut-memory", "the same with the inbox in memory", with: .agent(settings)) { play in
            try play.receiver.start()
            try await play.beginSession()
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
            try await play.beginSession()
            let batch = 10
            for round in 0..<rounds {
                let nth = Int.random(in: 1...batch, using: &play.random)
                // A process that dies between CONNECT and CONNACK cannot know that the session is still the same, so before a
                // kill the connection stays, and the broker hears no more of it.
                let isKilled = round % 2 == 1
                let rule = PacketRule(.puback, .toBroker, nth: nth, isKilled ? .swallowRest : .cutInstead(.reset))
                let lost = await play.proxy.arm(rule)
                try await play.send(round * batch + 1...(round + 1) * batch)
                play.expect(
                    try await play.observation.wait { _ in lost.hasHappened }, "PUBACK \(nth) never came")
                guard isKilled else { continue }
                // The answers are stored first: what is handled twice now was redelivered.
                try await play.waitForAll()
                let state = play.bench.state
                play.expect(
                    try await play.observation.wait { _ in try InboxReading(state: state).open == 0 },
                    "messages are left that are neither done nor dead")
                try await play.receiver.kill()
                try play.receiver.start()
            }
            try await play.finish()
            let again = play.observation.log.endedCount - rounds * batch - 1
            play.expect(again == 0, "\(again) messages handled again")
            let redelivered = play.traffic.deliveries.values.reduce(0) { $0 + $1.count - 1 }
            play.expect(redelivered >= rounds, "\(redelivered) redeliveries")
            return "\(rounds) PUBACKs, \(redelivered) redeliveries"
        }
    }

    /// Messages whose bytes are equal are messages all the same.
    static func equal(rounds: [Int]) -> Scenario {
        Scenario("equal", "forty equal messages wait, some are taken, the link is cut: forty have to be handled") {
            try await $0.cutAmongEqual(rounds, whenAcknowledged: false)
        }
    }

    /// With identifiers that mean another message after each cut: what was never read comes with DUP and the identifier of
    /// one that is done.
    static func equalRenumbered(rounds: [Int]) -> Scenario {
        Scenario(
            "equal-renumber",
            "the same, cut when what was read is acknowledged, and each connection counts packet IDs from 1"
        ) { play in
            await play.proxy.change { $0.renumbersPackets = true }
            return try await play.cutAmongEqual(rounds, whenAcknowledged: true)
        }
    }
}

extension Play {
    /// Has the session's first message over with. A connection that begins with the packet identifier 1 does not show
    /// that its broker keeps identifiers, so all that comes again on it is handled again.
    mutating func beginSession() async throws {
        let proxy = self.proxy
        try await self.send([0])
        self.expect(try await self.observation.wait { _ in proxy.traffic.acknowledged.contains(0) }, "no PUBACK came")
    }

    /// A cut may come before the broker has written anything behind it. Until one of the rounds leaves messages that were
    /// sent and not seen, more of them follow.
    ///
    /// - Parameter whenAcknowledged: whether the receiver has acknowledged what it read when the cut comes, rather than next
    ///   to nothing.
    fileprivate mutating func cutAmongEqual(_ rounds: [Int], whenAcknowledged: Bool) async throws -> String {
        var round = 0
        while round < rounds.count || (self.traffic.unseenDuplicates == 0 && round < rounds.count + 10) {
            try await self.cutAmongEqual(round, nth: rounds[round % rounds.count], whenAcknowledged: whenAcknowledged)
            round += 1
        }
        try await self.finish()
        let unseen = self.traffic.unseenDuplicates
        self.expect(unseen > 0, "no message came with DUP that had never come before")
        return "\(round) cuts, \(unseen) unseen with DUP"
    }

    private mutating func cutAmongEqual(_ round: Int, nth: Int, whenAcknowledged: Bool) async throws {
        let proxy = self.proxy
        // Nobody is there while they are queued.
        await proxy.change { $0.refusesConnections = true }
        await proxy.cut(.reset)
        try await self.publish(repeatElement(round + 1, count: 40))
        let how: Cut = round % 2 == 0 ? .reset : .close
        let rule = PacketRule(.publish, .toReceiver, nth: nth, whenAcknowledged ? .swallowRest : .cutAfter(how))
        let cut = await proxy.arm(rule)
        await proxy.change { $0.refusesConnections = false }
        if round == 0 { try self.receiver.start() }
        self.expect(try await self.observation.wait { _ in cut.hasHappened }, "no cut in round \(round + 1)")
        if whenAcknowledged {
            self.expect(try await self.observation.wait { _ in proxy.traffic.inFlight == 0 }, "no PUBACK came")
            // Not by RST, which may overtake the acknowledgements.
            let links = await proxy.cut(.close)
            self.expect(links == 1, "\(links) connections were cut in round \(round + 1)")
        }
        try await self.waitForAll()
    }

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
            if !atOnce { try await self.waitForAll() }
        }
        if self.kind.isOurs { self.expect(self.traffic.cuts == cuts, "\(self.traffic.cuts) cuts of \(cuts)") }
    }
}
