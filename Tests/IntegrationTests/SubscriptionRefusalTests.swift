import Glibc
import KiiPushCore
import TestSupport
import Testing

/// Brokers that accept a client and refuse its subscription (SUBACK 0x80).
@Suite struct SubscriptionRefusalTests {
    private static func endpoint(_ broker: FakeBroker, password: String = "password") -> String {
        #"{"username":"name","password":"\#(password)","mqttTopic":"topic-1","host":"127.0.0.1","#
            + #""portTCP":\#(broker.port),"portSSL":1}"#
    }

    private static func refuse(_ broker: FakeBroker) throws {
        let connection = try broker.accept()
        _ = try connection.receive()
        try connection.send(.connack(MQTTConnack(sessionPresent: true, code: .accepted)))
        guard case .subscribe(let subscribe) = try connection.receive() else { throw TestFailure("no SUBSCRIBE") }
        try connection.send(.suback(MQTTSuback(packetID: subscribe.packetID, grants: [nil])))
        _ = try? connection.receive()
    }

    @Test func aRefusalAfterAWorkingSessionHasTheEndpointFetchedAgain() async throws {
        try await withFakeBroker { broker, runtime, configuration in
            let cloud = try FakeCloud { [answer = Self.endpoint(broker, password: "another")] _ in
                .init(status: 200, body: answer)
            }
            try await whileRunning(PushAgent(of: cloud, runtime, configuration)) {
                let kept = try await broker.play { broker in
                    try broker.acceptSession().reset()
                    try Self.refuse(broker)
                    let third = try broker.accept()
                    #expect(try third.open(sessionPresent: true).password == "another")
                    return third
                }
                #expect(cloud.requests.count == 1)
                withExtendedLifetime(kept) {}
            }
        }
    }

    @Test func onlyRefusalsThatTheCloudConfirmsTimeAfterTimeEndTheRun() async throws {
        try await withFakeBroker { broker, runtime, configuration in
            let cloud = try FakeCloud { [answer = Self.endpoint(broker)] _ in .init(status: 200, body: answer) }
            let agent = PushAgent(of: cloud, runtime, configuration)
            async let refusals = broker.play { broker in
                var refusals = 0
                // The test itself makes the last connection.
                while (try? Self.refuse(broker)) != nil { refusals += 1 }
                return refusals
            }
            let error = await #expect(throws: PushAgentError.self) { try await agent.run() }
            guard case .subscriptionRefused = error else { throw TestFailure("\(String(describing: error))") }
            if let own = Loopback.connected(to: broker.port) { close(own) }
            #expect(try await refusals == 10)
            #expect(cloud.requests.count == 10)
        }
    }

    @Test func refusalsThatTheCloudDoesNotConfirmEndNothing() async throws {
        try await withFakeBroker { broker, runtime, configuration in
            let cloud = try FakeCloud { _ in .init(status: 500) }
            try await whileRunning(PushAgent(of: cloud, runtime, configuration)) {
                let kept = try await broker.play { broker in
                    for _ in 1...25 { try Self.refuse(broker) }
                    return try broker.acceptSession()
                }
                withExtendedLifetime(kept) {}
            }
        }
    }

    @Test func whoRegistersAsksForTheEndpointOnceMore() async throws {
        try await withFakeBroker { broker, runtime, configuration in
            try change("hasSession", to: false, in: "\(runtime.configuration.stateDirectory)/agents/default.json")
            let cloud = try FakeCloud { [answer = Self.endpoint(broker)] _ in .init(status: 200, body: answer) }
            let agent = PushAgent(of: cloud, runtime, configuration)
            async let registration = agent.register()
            let kept = try await broker.play { broker in
                try Self.refuse(broker)
                return try broker.acceptSession()
            }
            #expect(try await registration.mqttTopic == "topic-1")
            #expect(cloud.requests.count == 2)
            withExtendedLifetime(kept) {}
        }
    }
}
