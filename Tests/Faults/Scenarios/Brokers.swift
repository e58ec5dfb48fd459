import KiiPushCore
import KiiPushEmulator

// The broker itself dies. What it takes along is not the receiver's to lose, and has a column of its own.
extension Scenario {
    static func broker(kills: Int) -> Scenario {
        self.killedBroker("broker", "mosquitto is killed while it delivers, or holds messages", kills, .everyChange)
    }

    static func lazyBroker(kills: Int) -> Scenario {
        self.killedBroker("broker-lazy", "the same, where it saves once a second only", kills, .everySecond)
    }

    private static func killedBroker(
        _ name: String, _ summary: String, _ kills: Int, _ persistence: BrokerPersistence
    ) -> Scenario {
        var setup = FaultBench.Setup()
        setup.persistence = persistence
        return Scenario(name, summary, on: setup) { play in
            play.brokerWasKilled = true
            let batch = 100
            var amidDelivery = 0
            for kill in 0..<kills {
                let numbers = kill * batch + 1..<(kill + 1) * batch + 1
                let isAbsent = kill % 2 == 1
                if isAbsent {
                    try await play.receiver.kill()
                } else {
                    if !play.receiver.isRunning { try play.receiver.start() }
                    play.expect(try await play.passProbe(), "the agent did not come back")
                }
                // So that it has saved the session at least; what comes within the next second is at risk.
                if persistence == .everySecond { try await Task.sleep(for: .milliseconds(1200)) }
                let early = Int.random(in: 1..<batch, using: &play.random)
                // Answered with 503 while there is none; what was answered so does not count as sent.
                if isAbsent {
                    try await play.send(numbers.prefix(early))
                    try await play.bench.killBroker()
                    try await play.send(numbers.dropFirst(early))
                } else if try await play.killBroker(atDelivery: early, { try await $0.send(numbers) }) {
                    amidDelivery += 1
                }
            }
            if !play.receiver.isRunning { try play.receiver.start() }
            try await play.finishAfterLast()
            play.expect(amidDelivery == (kills + 1) / 2, "\(amidDelivery) kills while it delivered")
            return "\(kills) kills of mosquitto, \(amidDelivery) amid delivery"
        }
    }

    /// A broker that keeps what it acknowledged is killed before our agent's eyes, and behind its back.
    static func restart(messages: Int) -> Scenario {
        Scenario("restart", "the broker is killed (SIGKILL) while it delivers, and while messages wait") { play in
            play.brokerWasKilled = true
            try await play.send(1...messages)
            let isKilled = try await play.killBroker(atDelivery: messages / 2) { try $0.receiver.start() }
            play.expect(isKilled, "the broker was not killed while it delivered")
            try await play.send(messages + 1...messages * 2)
            try await play.waitForAll()
            try await play.receiver.kill()
            try await play.send(messages * 2 + 1...messages * 3)
            try await play.bench.killBroker()
            try play.receiver.start()
            try await play.finish()
            return "2 kills of the broker"
        }
    }
}

extension Play {
    /// Has the broker killed as soon as it has delivered so many messages, before it can have an acknowledgement of the
    /// last one: the proxy passes that on, and does the killing.
    ///
    /// - Parameter body: makes it deliver them.
    fileprivate mutating func killBroker(
        atDelivery nth: Int, _ body: (inout Play) async throws -> Void
    ) async throws -> Bool {
        let kill = try self.bench.brokerKiller()
        let fired = await self.proxy.arm(PacketRule(.publish, .toReceiver, nth: nth, .pass), then: kill)
        try await body(&self)
        let isKilled = try await self.observation.wait { _ in fired.hasHappened }
        try await self.bench.restartBroker()
        return isKilled
    }
}
