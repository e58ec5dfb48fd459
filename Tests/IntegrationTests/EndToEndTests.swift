import Glibc
import KiiPushCore
import KiiPushEmulator
import TestSupport
import Testing

@Suite struct EndToEndTests {
    private func agent(
        _ emulator: Emulator,
        _ runtime: PushRuntime,
        _ handler: some NotificationHandler,
        subscriptions: [SubscriptionTarget] = [],
        account: KiiAccount = .pseudoUser,
        usesTLS: Bool = true
    ) -> PushAgent {
        var configuration = PushAgent.Configuration(
            app: emulator.app, account: account, subscriptions: subscriptions)
        configuration.usesTLS = usesTLS
        return PushAgent(runtime: runtime, configuration: configuration, handler: handler)
    }

    @Test(arguments: [PushRuntime.Configuration.Inbox.file, .memory], [true, false])
    func pushesOfAllThreeKindsReachTheHandler(inbox: PushRuntime.Configuration.Inbox, usesTLS: Bool) async throws {
        try await withEmulator { emulator, directory in
            let runtime = try emulator.runtime("\(directory)/agent", inbox: inbox)
            let client = runtime.client(for: emulator.app)
            let admin = try await emulator.adminToken(client)
            let topic = Topic("alerts")
            let bucket = Bucket("notes")
            try await client.session(admin).createTopic(topic)
            _ = try await client.session(admin).createObject(["seed": 1], in: bucket)
            let handler = RecordingHandler()
            let agent = self.agent(
                emulator, runtime, handler, subscriptions: [.topic(topic), .bucket(bucket)], usesTLS: usesTLS)
            let registration = try await agent.register()
            let events = agent.events
            let calls = try await whileRunning(agent) {
                var missing: Set<SubscriptionTarget> = [.topic(topic), .bucket(bucket)]
                for await event in events {
                    if case .subscribed(let target) = event { missing.remove(target) }
                    if missing.isEmpty { break }
                }
                _ = try await client.session(admin).send(PushMessage(data: ["msg": "hi"]), to: .topic(topic))
                _ = try await client.session(admin).send(
                    PushMessage(data: ["n": 1]), to: .user(registration.principal.id))
                _ = try await client.session(admin).createObject(["title": "x"], in: bucket)
                return await handler.next(3)
            }
            let kinds = Dictionary(grouping: calls, by: { $0.message.kind })
            #expect(kinds[.pushToUser]?.first?.message.rawPayload["msg"]?.string == "hi")
            #expect(kinds[.directPush]?.first?.message.rawPayload["n"]?.int64 == 1)
            #expect(kinds[.pushToApp]?.first?.message.rawPayload["bucketID"]?.string == "notes")
            await runtime.shutdown()
        }
    }

    @Test func whatIsSentBetweenRegisteringAndRunningArrives() async throws {
        try await withEmulator { emulator, directory in
            let runtime = try emulator.runtime("\(directory)/agent")
            let handler = RecordingHandler()
            let agent = self.agent(emulator, runtime, handler)
            let registration = try await agent.register()
            let admin = try await emulator.adminToken(agent.client)
            for number in 1...20 {
                _ = try await agent.client.session(admin).send(
                    PushMessage(data: ["n": JSONValue(number)]), to: .user(registration.principal.id))
            }
            let calls = try await whileRunning(agent) { await handler.next(20) }
            #expect(calls.compactMap { $0.message.rawPayload["n"]?.int64 } == Array(1...20))
            await runtime.shutdown()
        }
    }

    @Test func aFailedMessageIsTriedAgainAndIsThenDone() async throws {
        try await withEmulator { emulator, directory in
            let runtime = try emulator.runtime("\(directory)/agent")
            let handler = RecordingHandler { $0.context.attempt == 1 ? .failed : .newData }
            let agent = self.agent(emulator, runtime, handler)
            let registration = try await agent.register()
            let admin = try await emulator.adminToken(agent.client)
            _ = try await agent.client.session(admin).send(
                PushMessage(data: ["n": 1]), to: .user(registration.principal.id))
            let events = agent.events
            let (calls, done) = try await whileRunning(agent) {
                let calls = await handler.next(2)
                let done = await firstEvent(events) { event in
                    if case .message(let message) = event, case .done = message.kind { true } else { false }
                }
                return (calls, done)
            }
            #expect(calls.map(\.context.attempt) == [1, 2])
            #expect(Set(calls.map(\.context.messageID)).count == 1)
            guard case .message(let message)? = done else { return #expect(Bool(false), "no event") }
            #expect(message.kind == .done(.newData, attempt: 2, isLate: false))
            await runtime.shutdown()
        }
    }

    @Test func whatWasHandledIsNotHandledAgainByTheNextRun() async throws {
        try await withEmulator { emulator, directory in
            var registration: Registration?
            for round in 1...3 {
                let runtime = try emulator.runtime("\(directory)/agent")
                let handler = RecordingHandler()
                let agent = self.agent(emulator, runtime, handler)
                let known = try await agent.register()
                #expect(registration == nil || registration == known)
                registration = known
                let admin = try await emulator.adminToken(agent.client)
                _ = try await agent.client.session(admin).send(
                    PushMessage(data: ["n": JSONValue(round)]), to: .user(known.principal.id))
                let calls = try await whileRunning(agent) { await handler.next(1) }
                #expect(calls.first?.message.rawPayload["n"]?.int64 == Int64(round))
                await runtime.shutdown()
            }
        }
    }

    @Test func theSecondOwnerOfAStateDirectoryIsToldWhoHasIt() async throws {
        try await withEmulator { emulator, directory in
            let first = try emulator.runtime("\(directory)/agent")
            _ = try await self.agent(emulator, first, RecordingHandler()).register()
            let second = try emulator.runtime("\(directory)/agent")
            let late = self.agent(emulator, second, RecordingHandler())
            await #expect {
                try await late.run()
            } throws: { error in
                guard case PushAgentError.stateDirectoryInUse(_, let processID) = error else { return false }
                return processID == Int(getpid())
            }
            await first.shutdown()
            await second.shutdown()
        }
    }

    @Test func aBrokerWhoseCertificateIsNotTrustedIsNotTalkedTo() async throws {
        try await withEmulator { emulator, directory in
            var configuration = PushRuntime.Configuration.patient(stateDirectory: "\(directory)/agent")
            configuration.certificateAuthorityFile = nil
            let runtime = try PushRuntime(configuration: configuration)
            let agent = self.agent(emulator, runtime, RecordingHandler())
            await #expect {
                try await agent.register()
            } throws: { error in
                let error = error as? TransportError
                return error?.code == .certificateNotTrusted
                    && error?.subject?.hasPrefix("the broker at 127.0.0.1:") ?? false
            }
            await runtime.shutdown()
        }
    }

    @Test func aWrongPasswordStopsTheAgentInsteadOfHammering() async throws {
        try await withEmulator { emulator, directory in
            let runtime = try emulator.runtime("\(directory)/agent")
            let owner = self.agent(
                emulator, runtime, RecordingHandler(),
                account: .user(name: "alice", password: "correct1", createsIfMissing: true))
            _ = try await owner.register()
            let other = try emulator.runtime("\(directory)/other")
            let intruder = self.agent(
                emulator, other, RecordingHandler(), account: .user(name: "alice", password: "wrong123"))
            await #expect {
                try await intruder.run()
            } throws: { error in
                guard case PushAgentError.signInRefused(let reason) = error else { return false }
                return reason.refusesCredentials || reason.status == 400
            }
            await runtime.shutdown()
            await other.shutdown()
        }
    }

    @Test func aThingReceivesWhatIsSentToItsTopic() async throws {
        try await withEmulator { emulator, directory in
            let runtime = try emulator.runtime("\(directory)/agent")
            let handler = RecordingHandler()
            let account = KiiAccount.thing(vendorThingID: "sensor-1", password: "secret12", type: "sensor")
            let first = self.agent(emulator, runtime, handler, account: account)
            let registration = try await first.register()
            let topic = Topic("alarm", in: .thing(registration.principal.id))
            let token = try await first.session().token()
            try await first.client.session(token.token).createTopic(topic)
            let agent = self.agent(emulator, runtime, handler, subscriptions: [.topic(topic)], account: account)
            let events = agent.events
            let calls = try await whileRunning(agent) {
                _ = await firstEvent(events) { if case .subscribed = $0 { true } else { false } }
                _ = try await agent.client.session(token.token).send(PushMessage(data: ["level": 3]), to: .topic(topic))
                return await handler.next(1)
            }
            #expect(calls.first?.message.sourceTopic == topic)
            await runtime.shutdown()
        }
    }
}
