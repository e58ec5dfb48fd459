import KiiPushCore
import KiiPushEmulator

// The broker itself dies. Messages that it loses are not the receiver's losses, and have their own column.
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
                // By then, the broker has saved at least the session. Messages of the next second are at risk.
                if persistence == .everySecond { try await Task.sleep(for: .milliseconds(1200)) }
                let early = Int.random(in: 1..<batch, using: &play.random)
                // While there is no broker, the cloud answers 503; messages with that answer do not count as sent.
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

    /// A broker that keeps acknowledged messages is killed: once while the agent receives, once while the agent is
    /// dead.
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
    /// Kills the broker at a delivery, before it can get the acknowledgement. The proxy passes the PUBLISH and then
    /// kills the broker.
    ///
    /// - Parameter body: makes the broker deliver.
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
