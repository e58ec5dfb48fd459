import KiiPushCore
import KiiPushEmulator
import TestSupport
import Testing

@Suite struct AgentRecoveryTests {
    private static let targets: [SubscriptionTarget] = [.topic(Topic("alerts")), .bucket(Bucket("readings"))]

    private func agent(
        _ emulator: Emulator, _ runtime: PushRuntime, _ handler: RecordingHandler = RecordingHandler(),
        targets: [SubscriptionTarget] = [], baseDelay: Duration = .milliseconds(1)
    ) -> PushAgent {
        let account = KiiAccount.user(name: "alice", password: "pass word", createsIfMissing: true)
        var reconnect = ReconnectPolicy.Configuration()
        // Every connection counts as stable, so only failed attempts wait for the base delay.
        reconnect.stableAfter = .zero
        reconnect.firstDelayAfterPeerLoss = .milliseconds(1)
        reconnect.baseDelay = baseDelay
        reconnect.maximumDelay = baseDelay * 2
        // The tests close many connections; the agent must not assume another receiver because of that.
        reconnect.pattern.closures = .max
        return PushAgent(
            runtime: runtime,
            configuration: PushAgent.Configuration(app: emulator.app, account: account, subscriptions: targets),
            handler: handler, reconnect: reconnect,
            subscriptionRetry: Backoff(from: .milliseconds(10), upTo: .milliseconds(20)))
    }

    private func createTopic(_ emulator: Emulator, _ client: KiiClient) async throws -> Secret {
        let admin = try await emulator.adminToken(client)
        try await client.session(admin).createTopic(Topic("alerts"))
        return admin
    }

    /// Waits until the agent has a new installation, a connection, and all subscriptions of `targets` again.
    ///
    /// - Returns: whether the agent reported the lost session before the new connection.
    private func recovery(
        _ events: AsyncStream<PushEvent>, from old: Registration, subscribing targets: [SubscriptionTarget]
    ) async -> Bool {
        var (isNew, isLost, isConnected) = (false, false, false)
        var missing = Set(targets)
        for await event in events {
            switch event {
            case .registered(let now): isNew = isNew || now.installationID != old.installationID
            case .notice(.sessionLost, _, _): isLost = isNew && !isConnected
            case .connected: isConnected = isNew
            case .subscribed(let target): if isNew { missing.remove(target) }
            default: break
            }
            if isConnected, missing.isEmpty { break }
        }
        return isLost
    }

    @Test func anAgentThatBecomesAnotherPrincipalSubscribesAgain() async throws {
        try await withEmulator { emulator, directory in
            let runtime = try emulator.runtime("\(directory)/agent")
            let handler = RecordingHandler()
            let agent = self.agent(emulator, runtime, handler, targets: Self.targets)
            _ = try await self.createTopic(emulator, agent.client)
            let first = try await agent.register()
            let before = agent.events
            let events = agent.events
            let call = try await whileRunning(agent) {
                _ = await firstEvent(before) { if case .subscribed(Self.targets[1]) = $0 { true } else { false } }
                try await emulator.control("POST", "reset")
                let admin = try await self.createTopic(emulator, agent.client)
                #expect(await self.recovery(events, from: first, subscribing: Self.targets))
                _ = try await agent.client.session(admin).send(PushMessage(data: ["n": 1]), to: .topic(Topic("alerts")))
                return await handler.next(1).first
            }
            #expect(call?.message.rawPayload["n"]?.int64 == 1)
            #expect(try agent.registration()?.principal != first.principal)
            await runtime.shutdown()
        }
    }

    @Test func anAgentWhoseInstallationWasDeletedSubscribesAgain() async throws {
        try await withEmulator { emulator, directory in
            let runtime = try emulator.runtime("\(directory)/agent")
            let agent = self.agent(emulator, runtime, targets: Self.targets)
            let admin = try await self.createTopic(emulator, agent.client)
            let first = try await agent.register()
            let before = agent.events
            let events = agent.events
            try await whileRunning(agent) {
                _ = await firstEvent(before) { if case .subscribed(Self.targets[1]) = $0 { true } else { false } }
                try await agent.client.session(admin).deleteInstallation(.id(first.installationID))
                #expect(await self.recovery(events, from: first, subscribing: Self.targets))
            }
            #expect(try agent.registration()?.principal == first.principal)
            await runtime.shutdown()
        }
    }

    private func isLost(_ events: AsyncStream<PushEvent>, beforeConnecting count: Int = 1) async -> Bool {
        var (isLost, connections) = (false, 0)
        for await event in events {
            if case .notice(.sessionLost, _, _) = event { isLost = true }
            if case .connected = event { connections += 1 }
            if isLost, connections < count { break }
            if case .disconnected(let reason, let pause) = event, pause >= Self.tooLong {
                Issue.record("it waits for \(pause): \(reason)")
                break
            }
            if connections == count { break }
        }
        return isLost
    }

    private static let tooLong = Duration.seconds(600)

    @Test func anotherTopicIsFollowedAtOnceAndTheLossIsTold() async throws {
        try await withEmulator { emulator, directory in
            let runtime = try emulator.runtime("\(directory)/agent")
            let agent = self.agent(emulator, runtime, baseDelay: Self.tooLong)
            let installationID = try await agent.register().installationID
            let before = agent.events
            let events = agent.events
            try await whileRunning(agent) {
                #expect(await !self.isLost(before))
                try await emulator.control("POST", "installations/\(installationID)/rotate")
                #expect(await self.isLost(events, beforeConnecting: 2))
            }
            // The loss is reported only once.
            let later = agent.events
            try await whileRunning(agent) { #expect(await !self.isLost(later)) }
            await runtime.shutdown()
        }
    }

    @Test(arguments: [false, true])
    func whatWasSentToAnotherTopicMeanwhileIsMissed(isRegisteredFirst: Bool) async throws {
        try await withEmulator { emulator, directory in
            let runtime = try emulator.runtime("\(directory)/agent")
            let agent = self.agent(emulator, runtime)
            let installationID = try await agent.register().installationID
            try await emulator.control("POST", "installations/\(installationID)/rotate")
            let events = agent.events
            if isRegisteredFirst {
                try await agent.register()
                #expect(await self.isLost(events))
            } else {
                // The broker may still accept the old password for a moment.
                try await whileRunning(agent) { #expect(await self.isLost(events, beforeConnecting: 2)) }
            }
            await runtime.shutdown()
        }
    }

    @Test func aTopicThatComesLateIsSubscribedToAndHoldsNothingUp() async throws {
        try await withEmulator { emulator, directory in
            let runtime = try emulator.runtime("\(directory)/agent")
            let agent = self.agent(emulator, runtime, targets: Self.targets)
            let events = agent.events
            let later = agent.events
            try await whileRunning(agent) {
                var delay: Duration?
                for await event in events {
                    if case .subscriptionFailed(_, _, let retryIn) = event { delay = retryIn }
                    if case .subscribed(let target) = event {
                        #expect(target == Self.targets[1])
                        break
                    }
                }
                #expect(delay != nil)
                _ = try await self.createTopic(emulator, agent.client)
                _ = await firstEvent(later) { if case .subscribed(Self.targets[0]) = $0 { true } else { false } }
            }
            await runtime.shutdown()
        }
    }

    @Test(
        arguments: [
            .topic(Topic("bad topic")), .topic(Topic("alerts", in: .user(""))), .bucket(Bucket("")),
            .bucket(Bucket("readings", in: .thing(".."))),
        ] as [SubscriptionTarget])
    func aSubscriptionThatCannotBeMadeIsRefusedBeforeAnythingIsSent(target: SubscriptionTarget) async throws {
        try await withTemporaryDirectory { directory in
            let runtime = try PushRuntime(configuration: .init(stateDirectory: "\(directory)/agent"))
            // The port is closed, so a request of the agent would fail with another error, or be retried endlessly.
            let app = KiiApp(appID: "app", appKey: "key", baseURL: "http://127.0.0.1:1/api")
            let agent = PushAgent(
                runtime: runtime,
                configuration: .init(app: app, account: .pseudoUser, subscriptions: [target]),
                handler: RecordingHandler())
            await #expect(throws: KiiInputError.self) { try await agent.register() }
            await #expect(throws: KiiInputError.self) { try await agent.run() }
            await runtime.shutdown()
        }
    }

    @Test func membersThatTheAgentSetsItselfAreRefusedBeforeAnythingIsSent() async throws {
        try await withTemporaryDirectory { directory in
            let runtime = try PushRuntime(configuration: .init(stateDirectory: "\(directory)/agent"))
            // The port is closed, so a request of the agent would fail with another error, or be retried endlessly.
            let app = KiiApp(appID: "app", appKey: "key", baseURL: "http://127.0.0.1:1/api")
            var configuration = PushAgent.Configuration(app: app, account: .pseudoUser)
            configuration.installationMembers = ["payload": "apns", "userID": "u"]
            let agent = PushAgent(runtime: runtime, configuration: configuration, handler: RecordingHandler())
            for work in [{ _ = try await agent.register() }, { try await agent.run() }] {
                let error = await #expect(throws: KiiInputError.self) { try await work() }
                #expect(error?.description.hasPrefix(#"fields at "/userID" cannot be used: "#) == true)
            }
            await runtime.shutdown()
        }
    }
}
