import Foundation
import KiiPushCore
import KiiPushEmulator
import TestSupport
import Testing

/// The connection lives while handlers take their time.
@Suite(.timeLimit(.minutes(15))) struct KeepAliveTests {
    private static let keepAlive: Duration = .seconds(1)

    /// How late the thread of a loop was at most that has nothing else to do: where this one gets no processor time, the
    /// agent's own gets none either, and sends no PINGREQ.
    private final class Punctuality: Sendable {
        private let worst = Locked(Duration.zero)
        private static let interval: Duration = .milliseconds(50)

        init(_ loop: EventLoop) { self.plan(loop) }

        var lateness: Duration { self.worst.withLock { $0 } }

        private func plan(_ loop: EventLoop) {
            loop.submit { [weak self, weak loop] in
                guard let loop else { return }
                let due = loop.now + Self.interval
                loop.schedule(at: due) { [weak self, weak loop] in
                    guard let self, let loop else { return }
                    self.worst.withLock { $0 = max($0, .now() - due) }
                    self.plan(loop)
                }
            }
        }
    }

    /// Every place for a handler is taken by one that blocks its thread for longer than three keepalives.
    ///
    /// - Returns: whether the connection was lost, and how late the loop was at most.
    private func lossWhileHandlersBlock(_ emulator: Emulator, _ directory: String) async throws -> (Bool, Duration) {
        let runtime = try emulator.runtime(directory)
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let never = DispatchSemaphore(value: 0)
        let handler = RecordingHandler { _ in
            begin.yield()
            _ = never.wait(timeout: .now() + .milliseconds(4500))
            return .newData
        }
        var configuration = PushAgent.Configuration(app: emulator.app, account: .pseudoUser)
        configuration.keepAlive = Self.keepAlive
        // It is the broker's patience that is tried here.
        configuration.pingTimeout = .seconds(60)
        let agent = PushAgent(runtime: runtime, configuration: configuration, handler: handler, reconnect: .quick)
        let user = try await agent.register().principal.id
        let admin = try await emulator.adminToken(agent.client)
        for topic in 0..<4 {
            let topic = Topic("slow-\(topic)", in: .user(user))
            try await agent.client.createTopic(topic, token: admin)
            try await agent.client.subscribe(.user(user), to: .topic(topic), token: admin)
        }
        let events = agent.events
        let idle = try EventLoop()
        let punctuality = Punctuality(idle)
        try await whileRunning(agent) {
            _ = await firstEvent(events) { if case .connected = $0 { true } else { false } }
            for topic in 0..<4 {
                _ = try await agent.client.send(
                    PushMessage(data: ["n": JSONValue(topic)]), to: Topic("slow-\(topic)", in: .user(user)),
                    token: admin)
            }
            var running = 0
            for await _ in begun {
                running += 1
                if running == 4 { break }
            }
            _ = await handler.next(4)
        }
        var isLost = false
        for await event in events {
            if case .disconnected = event { isLost = true }
            if case .stopping = event { break }
        }
        await runtime.shutdown()
        idle.shutdown()
        return (isLost, punctuality.lateness)
    }

    @Test func aConnectionOutlivesHandlersThatAreSlowerThanThreeKeepalives() async throws {
        try await withEmulator { emulator, directory in
            var wasPunctual = false
            for attempt in 1...5 {
                let (isLost, lateness) = try await self.lossWhileHandlersBlock(
                    emulator, "\(directory)/agent-\(attempt)")
                guard isLost else { return }
                // The broker waits for half an interval more than one. Where a loop without any work was late by half of
                // that, it is this machine that was too busy, and the run says nothing.
                if lateness <= Self.keepAlive / 4 { wasPunctual = true }
            }
            // On a busy machine the broker may be late where the loop is not, but not every time.
            #expect(!wasPunctual, "lost in each of five runs")
            print("KeepAliveTests: this machine was too busy in all of five runs")
        }
    }
}
