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
            for kill in 0..<kills {
                let isAbsent = kill % 2 == 1
                if isAbsent {
                    await play.receiver.kill()
                } else if !play.receiver.isRunning {
                    try play.receiver.start()
                }
                let first = kill * batch + 1
                // So that it has saved the session at least; what comes within the next second is at risk.
                if persistence == .everySecond { try await Task.sleep(for: .milliseconds(1200)) }
                let early = Int.random(in: 1..<batch, using: &play.random)
                try await play.send(first..<first + early)
                try await play.bench.killBroker()
                // Answered with 503 while there is none; what was answered so does not count as sent.
                try await play.send(first + early..<first + batch)
            }
            if !play.receiver.isRunning { try play.receiver.start() }
            try await play.finishAfterLast()
            return "\(kills) kills of mosquitto"
        }
    }

    /// A broker that keeps what it acknowledged is killed before our agent's eyes, and behind its back.
    static func restart(messages: Int) -> Scenario {
        Scenario("restart", "the broker is killed (SIGKILL) while it delivers, and while messages wait") { play in
            play.brokerWasKilled = true
            try play.receiver.start()
            try await play.send(1...messages)
            try await play.bench.killBroker()
            try await play.send(messages + 1...messages * 2)
            _ = try await play.waitUntilAccounted()
            await play.receiver.kill()
            try await play.send(messages * 2 + 1...messages * 3)
            try await play.bench.killBroker()
            try play.receiver.start()
            try await play.finish()
            return "2 kills of the broker"
        }
    }
}
