import KiiPushCore

// The receiver is killed with SIGKILL in the middle of its work, again and again, while a queue waits at the broker.
extension Scenario {
    static func kill(messages: Int, kills: Int) -> Scenario {
        Scenario("kill", "messages wait at the broker; the agent is killed (SIGKILL) amid its work, again and again") {
            try await $0.receiveFirst()
            try await $0.send(1...messages)
            return try await $0.killAgainAndAgain(messages: messages, kills: kills)
        }
    }

    static func kill200(messages: Int, kills: Int) -> Scenario {
        Scenario("kill-200", "the same with messages of four senders, which are handled at once") {
            let payloads = (1...messages).map {
                ($0, Array("{\"n\":\($0),\"sender\":\"sender-\($0 % 4)\"}".utf8))
            }
            try await $0.receiveFirst()
            for start in stride(from: 0, to: messages, by: 500) {
                try await $0.publish(Array(payloads[start..<min(start + 500, messages)]))
            }
            return try await $0.killAgainAndAgain(messages: messages, kills: kills)
        }
    }

    static func killInMemory(messages: Int, kills: Int) -> Scenario {
        var settings = AgentReceiver.Settings()
        settings.inbox = "memory"
        return Scenario("kill-memory", "the same with the inbox in memory", with: .agent(settings)) {
            try await $0.send(1...messages)
            return try await $0.killAgainAndAgain(messages: messages, kills: kills)
        }
    }

    /// What the proxy cannot read it can cut all the same.
    static func secure(messages: Int, kills: Int) -> Scenario {
        var settings = AgentReceiver.Settings()
        settings.usesTLS = true
        return Scenario("tls", "over TLS, the agent is killed and the connection cut in turn", with: .agent(settings)) {
            play in
            try await play.send(1...messages)
            try play.receiver.start()
            for kill in 1...kills {
                play.expect(
                    try await play.observation.waitForHandler(afterEnded: messages * kill / (kills + 1)), "no progress")
                if kill % 2 == 1 {
                    _ = await play.observation.kill()
                    try play.receiver.start()
                } else {
                    await play.bench.secureProxy.cut(kill % 4 == 0 ? .reset : .close)
                }
            }
            try await play.finish()
            return "\((kills + 1) / 2) kills, \(kills / 2) cuts"
        }
    }

    /// A message that ends the process each time it is handled becomes a dead letter, and no other one does.
    static func poison(messages: Int) -> Scenario {
        let poison = messages / 3
        var settings = AgentReceiver.Settings()
        settings.poison = poison
        return Scenario("poison", "one message kills the process whenever it is handled", with: .agent(settings)) {
            play in
            try await play.send(1...messages)
            var deaths = 0
            try play.receiver.start()
            while try await !play.waitUntilAccounted() {
                guard !play.receiver.isRunning, deaths < 30 else { break }
                deaths += 1
                try play.receiver.start()
            }
            try await play.finish()
            let dead = try InboxReading(state: play.bench.state).deadLetters.map { $0.message.payload.messageNumber }
            play.expect(dead == [poison], "dead letters \(dead), where \(poison) alone was poison")
            return "\(deaths) deaths by 1 message"
        }
    }
}

extension Play {
    /// Has the session's first message over with, and ends the receiver.
    fileprivate mutating func receiveFirst() async throws {
        try self.receiver.start()
        try await self.beginSession()
        // An answer that is not stored would be a duplicate of another kind.
        let (isOurs, state) = (self.kind.isOurs, self.bench.state)
        _ = try await self.observation.wait {
            try $0.endings[0] != nil && (!isOurs || InboxReading(state: state).open == 0)
        }
        _ = await self.observation.kill()
    }

    fileprivate mutating func killAgainAndAgain(messages: Int, kills: Int) async throws -> String {
        var (done, interrupted) = (0, 0)
        for kill in 1...kills {
            // What has been acknowledged does not come again: nothing is left to be killed at.
            guard self.kind.isOurs || !self.traffic.acknowledged.isSuperset(of: self.sent.keys) else { break }
            try self.receiver.start()
            let stride = messages / (kills + 1)
            let threshold = stride * kill - Int.random(in: 0..<max(1, stride / 2), using: &self.random)
            guard try await self.observation.waitForHandler(afterEnded: threshold) else { break }
            if await self.observation.kill() > 0 { interrupted += 1 }
            done += 1
            try self.auditLedger()
        }
        if !self.receiver.isRunning { try self.receiver.start() }
        try await self.finish()
        if self.kind.isOurs { self.expect(done == kills, "\(done) kills of \(kills)") }
        return "\(done) kills, \(interrupted) amid work"
    }
}
