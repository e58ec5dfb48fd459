import KiiPushCore
import KiiPushEmulator

extension Scenario {
    /// The network silently drops all packets. Only PINGREQ can detect it.
    static func halfOpen(rounds: Int) -> Scenario {
        var settings = AgentReceiver.Settings()
        settings.keepAliveSeconds = 1
        return Scenario(
            "half-open", "the link dies without a word, one way or both; keepalive 1 s", with: .agent(settings)
        ) { play in
            let dead: [Set<Direction>] = [[.toReceiver], [.toBroker], [.toReceiver, .toBroker]]
            try play.receiver.start()
            for round in 0..<rounds {
                try await play.send(round * 50 + 1...round * 50 + 25)
                try await play.waitForAll()
                let (proxy, before) = (play.proxy, play.traffic.connections)
                var swallowed = 0
                // On a busy machine the agent may be between two connections.
                for _ in 1...10 where swallowed == 0 {
                    play.expect(
                        try await play.observation.wait { _ in !proxy.traffic.isDisconnected }, "no connection stands")
                    swallowed = await proxy.swallow(dead[round % dead.count])
                }
                play.expect(swallowed >= 1, "no link died in round \(round + 1)")
                try await play.send(round * 50 + 26...round * 50 + 50)
                play.expect(
                    try await play.observation.wait { _ in proxy.traffic.connections > before },
                    "the agent did not notice in round \(round + 1)")
                try await play.waitForAll()
            }
            try await play.finish()
            return "\(rounds) dead links"
        }
    }

    static func refuse(rounds: Int) -> Scenario {
        Scenario("refuse", "the connection is cut and nobody takes a new one for a while") { play in
            try play.receiver.start()
            for round in 0..<rounds {
                await play.proxy.change { $0.refusesConnections = true }
                let refused = play.traffic.refused
                await play.proxy.cut(round % 2 == 0 ? .reset : .close)
                try await play.send(round * 50 + 1...(round + 1) * 50)
                let (proxy, before) = (play.proxy, refused + 5)
                play.expect(
                    try await play.observation.wait { _ in proxy.traffic.refused >= before },
                    "the agent does not try again")
                await play.proxy.change { $0.refusesConnections = false }
                try await play.waitForAll()
            }
            try await play.finish()
            return "\(rounds) times, \(play.traffic.refused) refused"
        }
    }

    static func split(messages: Int) -> Scenario {
        Scenario("split", "every byte comes alone, then every packet 20 ms late") { play in
            await play.proxy.change { $0.splitsIntoBytes = true }
            try play.receiver.start()
            try await play.send(1...messages)
            try await play.waitForAll()
            await play.proxy.change {
                $0.splitsIntoBytes = false
                $0.delay = .milliseconds(20)
            }
            try await play.send(messages + 1...messages * 2)
            try await play.finish()
            play.expect(play.traffic.connections == 1, "\(play.traffic.connections) connections")
            return "all packets"
        }
    }

    static func offline(messages: Int) -> Scenario {
        Scenario("offline", "messages wait while nobody receives") { play in
            try await play.send(1...messages)
            try play.receiver.start()
            try await play.finish()
            return "1 absence"
        }
    }

    /// A broker that sends all waiting messages before the first acknowledgement. mosquitto 2.0.11 does that if its
    /// limit allows it, as here.
    static func window(messages: Int) -> Scenario {
        var settings = AgentReceiver.Settings()
        settings.inbox = "memory"
        // The first message is slow. Acknowledgements follow the order of messages, so none is sent before its end.
        settings.slow = (every: messages, milliseconds: 3000)
        return Scenario(
            "window", "the broker sends all that waits before anything is acknowledged", with: .agent(settings)
        ) { play in
            try await play.send([messages])
            try await play.send(1..<messages)
            try play.receiver.start()
            try await play.finish()
            play.expect(play.traffic.mostInFlight >= 1000, "\(play.traffic.mostInFlight) in flight at most")
            play.expect(play.traffic.connections == 1, "\(play.traffic.connections) connections")
            return "\(play.traffic.mostInFlight) in flight"
        }
    }

    /// A publisher that repeats a message does not set DUP, and neither does a network that doubles a packet. So both
    /// messages are new to the agent.
    static func withoutDUP(messages: Int) -> Scenario {
        Scenario("no-dup", "one message in ten is sent twice, another one doubled by the link, without DUP") { play in
            try play.receiver.start()
            for start in stride(from: 1, through: messages, by: 10) {
                let doubled = await play.proxy.arm(PacketRule(.publish, .toReceiver, nth: 3, .duplicate))
                try await play.publish(Array(start..<start + 10) + [start + 9])
                play.expect(try await play.observation.wait { _ in doubled.hasHappened }, "no packet was doubled")
            }
            try await play.finish()
            return "\(messages / 10) sent twice, \(messages / 10) doubled"
        }
    }
}
