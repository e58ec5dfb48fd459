import Glibc
import KiiPushCore
import KiiPushEmulator

extension Scenario {
    static func slow(messages: Int, every: Int, keepAliveSeconds: Int = 5) -> Scenario {
        var settings = AgentReceiver.Settings()
        settings.keepAliveSeconds = keepAliveSeconds
        settings.slow = (every: every, milliseconds: 4000 * keepAliveSeconds)
        return Scenario(
            "slow", "a handler takes four times the keepalive (\(keepAliveSeconds) s)", with: .agent(settings)
        ) { play in
            try play.receiver.start()
            try await play.send(1...messages)
            try await play.waitForAll()
            let traffic = play.traffic
            play.expect(
                traffic.connections == 1 && traffic.connectionsEndedByPeers == 0,
                "\(traffic.connectionsEndedByPeers) disconnects")
            try await play.finish()
            return "\(messages / every) slow, \(traffic.connectionsEndedByPeers) disconnects"
        }
    }

    /// With the inbox in memory, a message is acknowledged only after its handler has answered. A broker that
    /// redelivers earlier must not start a second handler.
    static func withheld(seconds: Int) -> Scenario {
        var settings = AgentReceiver.Settings()
        settings.inbox = "memory"
        settings.slow = (every: 5, milliseconds: seconds * 1000)
        return Scenario(
            "withheld", "a handler takes its time, with the inbox in memory, so its message is not acknowledged",
            with: .agent(settings)
        ) { play in
            try play.receiver.start()
            try await play.publish(1...5)
            let proxy = play.proxy
            var (isAcknowledged, isTooEarly) = (false, false)
            let isOver = try await play.observation.wait { log in
                // The value is from before this reading of the log, which has the handler's end before the
                // acknowledgement is sent.
                if isAcknowledged, log.endings[5] == nil { isTooEarly = true }
                isAcknowledged = proxy.traffic.acknowledged.contains(5)
                return isAcknowledged && log.endings[5] != nil
            }
            play.expect(isOver, "the slow handler did not end, or was not acknowledged")
            play.expect(!isTooEarly, "acknowledged while the handler ran")
            try await play.finish()
            let begun = play.observation.log.begunCount
            play.expect(begun == 5, "\(begun) handlers started for 5 messages")
            return "\(seconds) s, sent \(play.traffic.deliveries[5]?.count ?? 0) times"
        }
    }

    static func clock(messages: Int) -> Scenario {
        var settings = AgentReceiver.Settings()
        settings.followsCalendar = true
        settings.failsEvery = 5
        return Scenario(
            "clock", "the calendar jumps by hours, months and years; one message in five fails at first",
            with: .agent(settings)
        ) { play in
            guard let agent = play.receiver as? AgentReceiver else { throw FaultError("this is for our agent") }
            let day: Int64 = 86_400
            let jumps = [-day, 30 * day, -400 * day, 3600, 0, 3650 * day]
            try agent.setCalendar(ahead: 0)
            try agent.start()
            try await play.beginSession()
            for (index, jump) in jumps.enumerated() {
                let first = index * messages / jumps.count + 1
                let cut = await play.proxy.arm(PacketRule(.puback, .toBroker, nth: 5, .cutInstead(.reset)))
                try await play.send(first..<first + messages / jumps.count / 2)
                play.expect(try await play.observation.wait { _ in cut.hasHappened }, "no cut")
                // Failed messages now wait for their second attempt while the calendar changes.
                try agent.setCalendar(ahead: jump)
                if index % 2 == 1 {
                    try await agent.kill()
                    try agent.start()
                }
                try await play.send(first + messages / jumps.count / 2..<first + messages / jumps.count)
            }
            try await play.finish()
            let latest = try InboxReading.latestReception(state: play.bench.state)
            play.expect(
                latest.map { $0 > .now() + .seconds(3000 * day) } ?? false,
                "the agent's calendar did not follow")
            return "\(jumps.count) jumps, \(jumps.count) cuts, \(jumps.count / 2) kills"
        }
    }

    static func badInput(messages: Int) -> Scenario {
        let bad: [(String, [UInt8])] = [
            ("oversized", Array("{\"p\":\"\(String(repeating: "x", count: 300_000))\"}".utf8)),
            ("no JSON", Array("{\"n\" 1}".utf8)), ("cut off", Array("{\"p\":\"".utf8)), ("empty", []),
            ("no object", Array("[1,2]".utf8)), ("no UTF-8", [0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
            ("too deep", Array((String(repeating: "[", count: 500) + String(repeating: "]", count: 500)).utf8)),
        ]
        return Scenario("bad-input", "oversized and undecodable payloads among good ones") { play in
            try play.receiver.start()
            for start in stride(from: 1, to: messages, by: 12) {
                var batch: [(number: Int?, payload: [UInt8])] = (start..<start + 12).map {
                    ($0, Array("{\"n\":\($0)}".utf8))
                }
                for (_, payload) in bad { batch.append((nil, payload)) }
                batch.shuffle(using: &play.random)
                play.expectedDeadLetters += bad.count
                try await play.publish(batch)
            }
            try await play.finish()
            let letters = try InboxReading(state: play.bench.state).deadLetters
            play.expect(
                letters.count == play.expectedDeadLetters && letters.allSatisfy { $0.reason?.isEmpty == false },
                "\(letters.count) dead letters of \(play.expectedDeadLetters), or one without a reason")
            play.expect(play.traffic.connections == 1, "\(play.traffic.connections) connections")
            return "\(play.expectedDeadLetters) bad messages"
        }
    }
}
