import Foundation
import KiiPushCore
import TestSupport
import Testing

/// A stop is graceful in every state of the agent, and always ends.
@Suite struct AgentStopTests {
    private final class HandlerUntilStop: AsyncRemoteNotificationHandler {
        let (begun, begin) = AsyncStream<Void>.makeStream()
        private let (stops, stop) = AsyncStream<Void>.makeStream()

        func answer(when events: AsyncStream<PushEvent>) async {
            _ = await firstEvent(events) { if case .stopping = $0 { true } else { false } }
            self.stop.finish()
        }

        func didReceiveRemoteNotification(
            _ message: ReceivedMessage, context: DeliveryContext
        ) async throws -> FetchResult {
            self.begin.yield()
            for await _ in self.stops {}
            return .newData
        }
    }

    /// Delays so long that every wait for one would exceed the test's time limit.
    private static let patient: ReconnectPolicy.Configuration = {
        var configuration = ReconnectPolicy.Configuration()
        configuration.firstDelayAfterPeerLoss = .seconds(6000)
        configuration.baseDelay = .seconds(6000)
        configuration.maximumDelay = .seconds(6000)
        return configuration
    }()

    private static func rows(_ state: RowState, _ runtime: PushRuntime) throws -> Int64 {
        var access = Inbox.Configuration()
        access.isReadOnly = true
        return try Inbox(path: "\(runtime.configuration.stateDirectory)/inbox.sqlite", configuration: access)
            .counts[state].rows
    }

    /// Cancels an agent with a message in its handler when `body` returns, and expects the answer in the store.
    private func stop(
        _ runtime: PushRuntime, _ agent: PushAgent, _ handler: HandlerUntilStop,
        during body: @escaping @Sendable () async throws -> Void
    ) async throws {
        let events = agent.events
        async let answered: Void = handler.answer(when: events)
        try await whileRunning(agent) { try await body() }
        #expect(try Self.rows(.done, runtime) == 1)
        #expect(try Self.rows(.inHand, runtime) == 0)
        await answered
    }

    @Test func aStopInAPauseBetweenConnectionsWaitsForTheHandler() async throws {
        try await withFakeBroker { broker, runtime, configuration in
            let handler = HandlerUntilStop()
            let agent = PushAgent(
                runtime: runtime, configuration: configuration, handler: handler, reconnect: Self.patient)
            let events = agent.events
            try await self.stop(runtime, agent, handler) {
                try await broker.bring([.message(1, packetID: 1)])
                for await _ in handler.begun { break }
                _ = await firstEvent(events) { if case .disconnected = $0 { true } else { false } }
            }
        }
    }

    @Test func aStopWhileTheCloudIsAskedWaitsForTheHandler() async throws {
        try await withFakeBroker { broker, runtime, configuration in
            // A cloud that accepts connections and never answers.
            let cloud = try FakeBroker()
            var configuration = configuration
            configuration.app = AgentStateFixture.app(at: "http://127.0.0.1:\(cloud.port)/api")
            let handler = HandlerUntilStop()
            let agent = PushAgent(runtime: runtime, configuration: configuration, handler: handler, reconnect: .quick)
            try await self.stop(runtime, agent, handler) {
                try await broker.bring([.message(1, packetID: 1)])
                for await _ in handler.begun { break }
                try await broker.play { broker in
                    let connection = try broker.accept()
                    _ = try connection.receive()
                    try connection.send(
                        .connack(MQTTConnack(sessionPresent: false, code: .badUserNameOrPassword)))
                }
                let asking = try await cloud.play { try $0.accept() }
                withExtendedLifetime(asking) {}
            }
        }
    }

    @Test func aStopEndsWithTheRuntimeWhenTheInboxCannotBeWritten() async throws {
        try await withTemporaryDirectory { directory in
            try await withFakeBroker(in: directory) { broker, _, configuration in
                var settings = PushRuntime.Configuration.patient(stateDirectory: directory)
                settings.shutdownGrace = .seconds(6000)
                let runtime = try PushRuntime(configuration: settings)
                let agent = PushAgent(runtime: runtime, configuration: configuration, handler: RecordingHandler())
                let (connects, failures, events) = (agent.events, agent.events, agent.events)
                let obstacle = WriterInTheWay(directory)
                async let run: Void = whileRunning(agent) {
                    let connection = try await broker.play { try $0.acceptSession() }
                    #expect(await firstEvent(connects) { if case .connected = $0 { true } else { false } } != nil)
                    await obstacle.begin()
                    try connection.send(.message(1, packetID: 1))
                    #expect(
                        await firstEvent(failures) { if case .trouble(.storing, _) = $0 { true } else { false } } != nil
                    )
                    withExtendedLifetime(connection) {}
                }
                // The stop waits for the message, which the agent cannot store and tries to store again.
                #expect(await firstEvent(events) { if case .stopping = $0 { true } else { false } } != nil)
                await runtime.shutdown()
                try await run
                obstacle.end()
            }
        }
    }

    private final class WriterInTheWay: Sendable {
        private let path: String
        private let release = DispatchSemaphore(value: 0)

        init(_ directory: String) { self.path = "\(directory)/inbox.sqlite" }

        func begin() async {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread { [path = self.path, release = self.release] in
                    do {
                        try Inbox(path: path).transaction { _ throws(InboxError) in
                            continuation.resume()
                            release.wait()
                        }
                    } catch {
                        Issue.record(error)
                    }
                }
            }
        }

        func end() { self.release.signal() }
    }
}
