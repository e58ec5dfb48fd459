import Foundation
import KiiPushCore
import KiiPushEmulator
import TestSupport
import Testing

@Suite struct AgentRunTests {
    private func configuration(_ emulator: Emulator, name: String = "default") -> PushAgent.Configuration {
        PushAgent.Configuration(name: name, app: emulator.app, account: .pseudoUser)
    }

    @Test func agentsOnOneRuntimeGetTheirOwnMessagesAndStopAlone() async throws {
        try await withEmulator { emulator, directory in
            let runtime = try emulator.runtime("\(directory)/agent")
            let handlers = (0..<3).map { _ in RecordingHandler() }
            let agents = (0..<3).map { index in
                PushAgent(
                    runtime: runtime, configuration: self.configuration(emulator, name: "agent-\(index)"),
                    handler: handlers[index])
            }
            let users = try await agents.asyncMap { try await $0.register().principal.id }
            let admin = try await emulator.adminToken(agents[0].client)
            @Sendable func send(_ number: Int, to index: Int) async throws {
                _ = try await agents[0].client.session(admin).send(
                    PushMessage(data: ["n": JSONValue(number)]), to: .user(users[index]))
            }
            try await whileRunning(agents[0]) {
                try await whileRunning(agents[1]) {
                    try await whileRunning(agents[2]) {
                        for index in 0..<3 { try await send(index, to: index) }
                        for index in 0..<3 {
                            let calls = await handlers[index].next(1)
                            #expect(calls.first?.message.rawPayload["n"]?.int64 == Int64(index))
                        }
                    }
                }
                // The second and the third agent have stopped.
                try await send(7, to: 0)
                let calls = await handlers[0].next(1)
                #expect(calls.first?.message.rawPayload["n"]?.int64 == 7)
            }
            await runtime.shutdown()
        }
    }

    @Test func stoppingWaitsForTheHandlerAndKeepsItsAnswer() async throws {
        try await withEmulator { emulator, directory in
            let (begun, begin) = AsyncStream<Void>.makeStream()
            let release = DispatchSemaphore(value: 0)
            let blocked = RecordingHandler { _ in
                begin.yield()
                release.wait()
                return .newData
            }
            let first = try emulator.runtime("\(directory)/agent")
            let agent = PushAgent(runtime: first, configuration: self.configuration(emulator), handler: blocked)
            let events = agent.events
            let user = try await agent.register().principal.id
            let admin = try await emulator.adminToken(agent.client)
            _ = try await agent.client.session(admin).send(PushMessage(data: ["n": 1]), to: .user(user))
            async let run: Void = whileRunning(agent) { for await _ in begun { break } }
            _ = await firstEvent(events) { if case .stopping = $0 { true } else { false } }
            release.signal()
            try await run
            await first.shutdown()

            let second = try emulator.runtime("\(directory)/agent")
            let handler = RecordingHandler()
            let next = PushAgent(runtime: second, configuration: self.configuration(emulator), handler: handler)
            _ = try await next.client.session(admin).send(PushMessage(data: ["n": 2]), to: .user(user))
            let calls = try await whileRunning(next) { await handler.next(1) }
            #expect(calls.first?.message.rawPayload["n"]?.int64 == 2)
            await second.shutdown()
        }
    }

    @Test func nothingIsStartedAnyMoreWhenTheStopIsTold() async throws {
        try await withFakeBroker { broker, runtime, configuration in
            let handler = HandlerUntilStop()
            let agent = PushAgent(runtime: runtime, configuration: configuration, handler: handler)
            let events = agent.events
            let (held, hold) = AsyncStream<Void>.makeStream()
            try await whileRunning(agent) {
                let connection = try await broker.play { broker in
                    let connection = try broker.acceptSession()
                    try connection.deliver(1...1)
                    return connection
                }
                // After the first verdict, the agent delivers new messages directly, without reading them from the
                // store.
                _ = await firstEvent(events) { event in
                    if case .message(let message) = event, case .done = message.kind { true } else { false }
                }
                try await broker.play { _ in try connection.deliver(2...6) }
                for await _ in handler.held { break }
                handler.answer(when: agent.events)
                // The stop arrives while the network thread is busy in this closure. If the agent reported the stop
                // before the closure ends, the handler would answer now, and the third call would follow within the
                // half second.
                #expect(
                    runtime.loop.submit {
                        hold.finish()
                        _ = handler.third.wait(timeout: .now() + .milliseconds(500))
                    })
                for await _ in held {}
            }
            #expect(handler.calls.withLock { $0 } == 2)
        }
    }

    /// Answers the first call. The answer to the second call waits until the agent reports its stop.
    private final class HandlerUntilStop: AsyncRemoteNotificationHandler {
        let calls = Locked(0)
        let third = DispatchSemaphore(value: 0)
        let (held, hold) = AsyncStream<Void>.makeStream()
        private let (stops, stop) = AsyncStream<Void>.makeStream()

        func answer(when events: AsyncStream<PushEvent>) {
            Task {
                _ = await firstEvent(events) { if case .stopping = $0 { true } else { false } }
                self.stop.finish()
            }
        }

        func didReceiveRemoteNotification(
            _ message: ReceivedMessage, context: DeliveryContext
        ) async throws -> FetchResult {
            let number = self.calls.withLock { calls in
                calls += 1
                return calls
            }
            if number == 1 { return .newData }
            if number > 2 { self.third.signal() }
            self.hold.yield()
            for await _ in self.stops {}
            return .newData
        }
    }

    private func connects(_ agent: PushAgent, to broker: FakeBroker) async throws {
        let events = agent.events
        try await whileRunning(agent) {
            _ = try await broker.play { try $0.acceptSession() }
            _ = await firstEvent(events) { if case .connected = $0 { true } else { false } }
        }
    }

    @Test func theSecondProcessOnAStateDirectoryIsToldWhichOneHasIt() async throws {
        try await withTemporaryDirectory { directory in
            try await withFakeBroker(in: directory) { broker, runtime, configuration in
                let process = MisusingProcess(state: directory)
                try process.start(isFirst: false)
                let connection = try await broker.play { try $0.acceptSession() }
                let agent = PushAgent(runtime: runtime, configuration: configuration, handler: RecordingHandler())
                let error = await #expect(throws: PushAgentError.self) { try await agent.run() }
                guard case .stateDirectoryInUse("\(directory)/lock", process.processID) = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
                #expect(
                    error?.description == "\(directory)/lock is in use by process \(process.processID ?? 0); "
                        + "stop that one, or use another state directory")
                withExtendedLifetime(connection) {}
                try await process.stop()
                // The kernel releases a lock when its process ends.
                try await self.connects(agent, to: broker)
            }
        }
    }

    @Test func theSecondProcessOnAnInstallationIsToldWhichOneHasIt() async throws {
        try await withTemporaryDirectory { directory in
            let state = "\(directory)/state"
            try await withFakeBroker(in: state) { broker, _, configuration in
                let copy = "\(directory)/copy"
                try FileManager.default.copyItem(atPath: state, toPath: copy)
                let process = MisusingProcess(state: state)
                try process.start(isFirst: false)
                let connection = try await broker.play { try $0.acceptSession() }
                let runtime = try PushRuntime(configuration: .patient(stateDirectory: copy))
                let agent = PushAgent(runtime: runtime, configuration: configuration, handler: RecordingHandler())
                let error = await #expect(throws: PushAgentError.self) { try await agent.run() }
                guard case .installationInUse(let installation, process.processID) = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
                #expect(
                    error?.description == "installation \(installation) is held by process \(process.processID ?? 0); "
                        + "stop that one, or receive as another user or thing")
                withExtendedLifetime(connection) {}
                try await process.stop()
                try await self.connects(agent, to: broker)
                await runtime.shutdown()
            }
        }
    }

    @Test func anAgentFindsItsWayBackToABrokerThatWasRestarted() async throws {
        try await withTemporaryDirectory { directory in
            let settings = Emulator.Configuration.patient(in: directory)
            let before = try await Emulator.start(settings)
            let runtime = try before.runtime("\(directory)/agent")
            let handler = RecordingHandler()
            let agent = PushAgent(
                runtime: runtime, configuration: self.configuration(before), handler: handler, reconnect: .quick)
            let user = try await agent.register().principal.id
            let events = agent.events
            try await whileRunning(agent) {
                _ = await firstEvent(events) { if case .connected = $0 { true } else { false } }
                await before.stop()
                _ = await firstEvent(events) { if case .disconnected = $0 { true } else { false } }
                let after = try await Emulator.start(settings)
                let admin = try await after.adminToken(agent.client)
                _ = try await agent.client.session(admin).send(PushMessage(data: ["n": 1]), to: .user(user))
                let calls = await handler.next(1)
                #expect(calls.first?.message.rawPayload["n"]?.int64 == 1)
                await after.stop()
            }
            await runtime.shutdown()
        }
    }
}

extension Sequence {
    fileprivate func asyncMap<Result>(_ transform: (Element) async throws -> Result) async rethrows -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await transform(element)) }
        return results
    }
}

extension FakeConnection {
    fileprivate func deliver(_ identifiers: ClosedRange<UInt16>) throws {
        for identifier in identifiers {
            try self.send(
                .publish(
                    MQTTPublish(
                        topic: "topic-1", payload: Array("{}".utf8), qos: .atLeastOnce, packetID: identifier)))
        }
        _ = try self.receiveAcknowledgements(identifiers.count)
    }
}
