import KiiPushCore
import KiiPushEmulator

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

    /// Cuts with the inbox in memory: the acknowledgement waits for the handler, and the agent matches the redelivery
    /// to the running handler.
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

    /// Redelivered messages have packet identifiers that other messages had before, as with RabbitMQ.
    static func renumber(messages: Int, cuts: Int) -> Scenario {
        Scenario("renumber", "each connection counts packet IDs anew, so a redelivery has another one; cuts") { play in
            await play.proxy.change { $0.renumbersPackets = true }
            try play.receiver.start()
            try await play.sendAndCut(messages: messages, cuts: cuts, atOnce: false)
            try await play.finish()
            return "\(play.traffic.cuts) cuts"
        }
    }

    /// The agent has stored and acknowledged a message, but the broker never gets the PUBACK and redelivers: to the
    /// same process, or to the next one.
    static func lostAcknowledgement(rounds: Int) -> Scenario {
        Scenario("lost-puback", "a PUBACK is lost with its connection, every other time the process is killed too") {
            play in
            try play.receiver.start()
            try await play.beginSession()
            let batch = 10
            for round in 0..<rounds {
                let nth = Int.random(in: 1...batch, using: &play.random)
                // A process that dies between CONNECT and CONNACK cannot know that the session is still the same. So
                // before a kill the connection stays open, but the proxy passes nothing more to the broker.
                let isKilled = round % 2 == 1
                let rule = PacketRule(.puback, .toBroker, nth: nth, isKilled ? .swallowRest : .cutInstead(.reset))
                let lost = await play.proxy.arm(rule)
                try await play.send(round * batch + 1...(round + 1) * batch)
                play.expect(
                    try await play.observation.wait { _ in lost.hasHappened }, "PUBACK \(nth) never came")
                guard isKilled else { continue }
                // All answers are stored first, so a second handling would be that of a redelivery.
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

    /// Several messages with equal bytes are different messages.
    static func equal(rounds: [Int]) -> Scenario {
        Scenario("equal", "forty equal messages wait, some are taken, the link is cut: forty have to be handled") {
            try await $0.cutAmongEqual(rounds, whenAcknowledged: false)
        }
    }

    /// Packet identifiers mean another message after each cut: a message that was never read arrives with DUP and the
    /// identifier of a handled one.
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
    /// Sends the first message of the session, and waits for its acknowledgement. A connection that begins with packet
    /// identifier 1 does not show that its broker keeps identifiers, so the agent would handle redeliveries again.
    mutating func beginSession() async throws {
        let proxy = self.proxy
        try await self.send([0])
        self.expect(try await self.observation.wait { _ in proxy.traffic.acknowledged.contains(0) }, "no PUBACK came")
    }

    /// A cut may come before the broker has written another message. So the rounds go on until a cut leaves messages
    /// that were sent and not read.
    ///
    /// - Parameter whenAcknowledged: whether the cut waits until the receiver has acknowledged all that it read.
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
        // The receiver is offline while the messages are queued.
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
            // A reset could overtake the acknowledgements, so the proxy closes the connection.
            let links = await proxy.cut(.close)
            self.expect(links == 1, "\(links) connections were cut in round \(round + 1)")
        }
        try await self.waitForAll()
    }

    /// Sends in batches and cuts the connection once in each: alternately after a PUBLISH and before a PUBACK.
    ///
    /// - Parameter atOnce: whether the next batch follows directly after the cut, so that unacknowledged messages add
    ///   up. Otherwise all messages are handled first.
    fileprivate mutating func sendAndCut(messages: Int, cuts: Int, atOnce: Bool) async throws {
        let batch = messages / cuts
        // With QoS 2, PUBCOMP is the last packet about a message.
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
            // Without a reconnection, no further rule is met.
            guard try await self.observation.wait(until: { _ in firing.hasHappened }) else { break }
            if !atOnce { try await self.waitForAll() }
        }
        if self.kind.isOurs { self.expect(self.traffic.cuts == cuts, "\(self.traffic.cuts) cuts of \(cuts)") }
    }
}
