import KiiPushCore
import KiiPushEmulator

extension Scenario {
    static func kill(messages: Int, kills: Int) -> Scenario {
        Scenario("kill", "the agent is killed (SIGKILL) amid its work and while messages come, again and again") {
            try await $0.receiveFirst()
            let kills = try await $0.killAgainAndAgain(messages: messages, kills: kills) { try await $0.send($1) }
            return kills.description
        }
    }

    static func kill200(messages: Int, kills: Int) -> Scenario {
        Scenario("kill-200", "the same with messages of four senders, which are handled at once") {
            try await $0.receiveFirst()
            return try await $0.killAgainAndAgain(messages: messages, kills: kills) { play, numbers in
                for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 500) {
                    try await play.publish(
                        (start..<min(start + 500, numbers.upperBound)).map {
                            ($0, Array("{\"n\":\($0),\"sender\":\"sender-\($0 % 4)\"}".utf8))
                        })
                }
            }.description
        }
    }

    static func killInMemory(messages: Int, kills: Int) -> Scenario {
        var settings = AgentReceiver.Settings()
        settings.inbox = "memory"
        return Scenario("kill-memory", "the same with the inbox in memory", with: .agent(settings)) {
            try await $0.killAgainAndAgain(messages: messages, kills: kills) { try await $0.send($1) }.description
        }
    }

    /// The proxy cannot read TLS, but it can count bytes and cut after some.
    static func secure(messages: Int, kills: Int) -> Scenario {
        var settings = AgentReceiver.Settings()
        settings.usesTLS = true
        // Without slow messages, a receiver on a busy machine might finish before the check.
        settings.slow = (every: messages / kills / 2, milliseconds: 500)
        return Scenario(
            "tls", "over TLS, while messages come, the agent is killed and the connection cut in turn",
            with: .agent(settings)
        ) { play in
            try play.receiver.start()
            let (proxy, share) = (play.bench.secureProxy, messages / kills)
            for kill in 0..<kills {
                let first = kill * share + 1
                // A running handler shows that the connection is open, unless all its messages came over the previous
                // connection.
                try await play.send(first..<first + share / 2)
                play.expect(try await play.observation.waitForHandler(afterEnded: kill * share / 2), "no progress")
                // Each message is longer than a hundred bytes.
                let bytes = Int.random(in: 1...share / 2 * 100, using: &play.random)
                let (process, isKill) = (play.receiver.process, kill % 2 == 0)
                let cut: Cut? = isKill ? nil : kill % 4 == 1 ? .reset : .close
                let fired = await proxy.arm(ByteRule(bytes: bytes, cut)) { if isKill { process.signalKill() } }
                try await play.send(first + share / 2..<first + share)
                play.expect(try await play.waitUntilKilled(by: fired), "nothing came in round \(kill + 1)")
                guard isKill else { continue }
                _ = try await play.observation.kill()
                try play.receiver.start()
            }
            try await play.finish()
            let cuts = proxy.traffic.cuts
            play.expect(cuts == kills / 2, "\(cuts) cuts of \(kills / 2)")
            return "\((kills + 1) / 2) kills, \(cuts) cuts, all amid delivery"
        }
    }

    /// A message that ends the process at each handling becomes a dead letter; no other message does.
    static func poison(messages: Int) -> Scenario {
        let poison = messages / 3
        var settings = AgentReceiver.Settings()
        settings.poison = poison
        return Scenario("poison", "one message kills the process whenever it is handled", with: .agent(settings)) {
            play in
            play.expectedDead = [poison]
            try await play.send(1...messages)
            var deaths = 0
            try play.receiver.start()
            while try await play.waitUntilAccounted() == .receiverEnded, deaths < 30 {
                deaths += 1
                try play.receiver.start()
            }
            try await play.finish()
            return "\(deaths) deaths by 1 message"
        }
    }
}
