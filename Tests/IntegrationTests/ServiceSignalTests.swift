import Foundation
import Glibc
import KiiPushCore
import TestSupport
import TestTraits
import Testing

/// `PushService` in a process of `FloodedAgent`. The test acts as its service manager.
@Suite(.ownThreads) struct ServiceSignalTests {
    private func run(
        handler: String,
        _ body: @escaping @Sendable (FakeConnection, ChildProgram, DatagramReceiver) throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let broker = try FakeBroker()
            try AgentStateFixture(port: broker.port, topic: "topic-1", username: "name", password: "password")
                .write(to: directory)
            let manager = try DatagramReceiver("@kii-push-test-\(UUID().uuidString)")
            let variables = ["NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "100000"]
            let agent = try ChildProgram(
                [productsDirectory.appendingPathComponent("FloodedAgent").path, directory, "file", handler, "0"],
                environment: ProcessInfo.processInfo.environment.merging(variables) { $1 })
            try await broker.play { try body(try $0.acceptSession(), agent, manager) }
        }
    }

    @Test func tellsHowItIsAndHandsTheSignalsBack() async throws {
        try await self.run(handler: "answers") { connection, agent, manager in
            #expect(manager.line("READY=") == "1")
            #expect(manager.texts.contains("STATUS=Connected.\nREADY=1"))
            #expect(manager.line("WATCHDOG=") == "1")
            connection.reset()
            #expect(manager.line("STATUS=offline: ") != nil)
            agent.signal(SIGTERM)
            #expect(manager.line("STOPPING=") == "1")
            #expect(agent.output.wait(600) { $0.contains("\n") } == "would exit with 0\n")
            agent.signal(SIGTERM)
            #expect(agent.wait() == -SIGTERM)
        }
    }

    @Test(arguments: [SIGTERM, SIGINT]) func aSecondSignalEndsItAtOnce(number: Int32) async throws {
        try await self.run(handler: "holds") { connection, agent, manager in
            try connection.send(.message(1, packetID: 1))
            #expect(agent.output.wait(600) { $0.contains("\n") } == "holds\n")
            agent.signal(number)
            #expect(manager.line("STOPPING=") == "1")
            agent.signal(number)
            #expect(agent.wait() == 128 + number)
        }
    }
}
