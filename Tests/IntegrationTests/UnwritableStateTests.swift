import Foundation
import Glibc
import KiiPushCore
import KiiPushEmulator
import TestSupport
import Testing

/// If an agent's own file cannot be written, for example on a full disk, the agent continues with its data in memory.
@Suite struct UnwritableStateTests {
    /// The agent's file; while it is blocked, writes fail as on a full disk.
    private final class StateFile: Sendable {
        let path: String
        private let isBlocked = Locked(false)

        init(_ directory: String) { self.path = "\(directory)/agents/default.json" }

        func block() { self.isBlocked.withLock { $0 = true } }

        func unblock() { self.isBlocked.withLock { $0 = false } }

        var obstacle: FileError? {
            self.isBlocked.withLock { $0 } ? .system(path: self.path, operation: "write", code: ENOSPC) : nil
        }

        func members() throws -> [String: Any] {
            let data = try #require(FileManager.default.contents(atPath: self.path))
            return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        }

        func token() throws -> String { try #require(try self.members()["accessToken"] as? String) }

        /// Makes the token expire within a second.
        func endToken() throws {
            var members = try self.members()
            members["expiresAt"] = Timestamp.now().millisecondsSinceEpoch + 1000
            try PrivateFile.replace(self.path, with: Array(try JSONSerialization.data(withJSONObject: members)))
        }
    }

    private func configuration(_ emulator: Emulator) -> PushAgent.Configuration {
        PushAgent.Configuration(
            app: emulator.app, account: .user(name: "alice", password: "pass word", createsIfMissing: true),
            subscriptions: [.topic(Topic("alerts"))])
    }

    @Test func runGoesOnWhenANewTokenCannotBeStored() async throws {
        try await withEmulator { emulator, directory in
            let file = StateFile("\(directory)/agent")
            let runtime = try emulator.runtime("\(directory)/agent", stateObstacle: { file.obstacle })
            let handler = RecordingHandler()
            let agent = PushAgent(runtime: runtime, configuration: self.configuration(emulator), handler: handler)
            let admin = try await emulator.adminToken(agent.client)
            try await agent.client.session(admin).createTopic(Topic("alerts"))
            _ = try await agent.register()
            let old = try file.token()
            try file.endToken()
            file.block()
            let events = agent.events
            try await whileRunning(agent) {
                let event = await firstEvent(events) { if case .trouble(.saving, _) = $0 { true } else { false } }
                guard case .trouble(.saving, let reason)? = event else { return }
                #expect(reason.contains("default.json"))
                _ = await firstEvent(events) { if case .subscribed = $0 { true } else { false } }
                _ = try await agent.client.session(admin).send(PushMessage(data: ["n": 1]), to: .topic(Topic("alerts")))
                let calls = await handler.next(1)
                #expect(calls.first?.message.rawPayload["n"]?.int64 == 1)
                #expect(try file.token() == old)
                file.unblock()
                let token = try await agent.session().token()
                #expect(try file.token() == token.token.reveal())
                #expect(token.token.reveal() != old)
                _ = await firstEvent(events) { if case .recovered(.saving) = $0 { true } else { false } }
            }
            await runtime.shutdown()
        }
    }

    @Test func theEndOfARunStoresWhatCouldNotBeStoredBefore() async throws {
        try await withEmulator { emulator, directory in
            let file = StateFile("\(directory)/agent")
            let runtime = try emulator.runtime("\(directory)/agent", stateObstacle: { file.obstacle })
            let agent = PushAgent(
                runtime: runtime, configuration: self.configuration(emulator), handler: RecordingHandler())
            _ = try await agent.register()
            let old = try file.token()
            try file.endToken()
            file.block()
            let events = agent.events
            try await whileRunning(agent) {
                _ = await firstEvent(events) { if case .trouble(.saving, _) = $0 { true } else { false } }
                file.unblock()
            }
            #expect(try file.token() != old)
            let token = try await agent.session().token()
            #expect(try file.token() == token.token.reveal())
            await runtime.shutdown()
        }
    }

    @Test func anAgentThatWasNeverOnFileDoesNotBegin() async throws {
        try await withEmulator { emulator, directory in
            let file = StateFile("\(directory)/agent")
            file.block()
            let runtime = try emulator.runtime("\(directory)/agent", stateObstacle: { file.obstacle })
            let agent = PushAgent(
                runtime: runtime, configuration: .init(app: emulator.app, account: .pseudoUser),
                handler: RecordingHandler())
            for _ in 1...2 {
                await #expect {
                    try await agent.run()
                } throws: { error in
                    if case .file? = error as? PushAgentError { true } else { false }
                }
            }
            let user = try await agent.session().token().principal
            // The agent keeps the new pseudo user, and registers this user once its file can be written.
            file.unblock()
            #expect(try await agent.register().principal == user)
            await runtime.shutdown()
        }
    }

    @Test func anAgentTakesOverTheTokenThatAnotherProcessStored() async throws {
        try await withEmulator { emulator, directory in
            let runtime = try emulator.runtime("\(directory)/agent")
            // Without the password, only the token on file can help.
            var configuration = self.configuration(emulator)
            _ = try await PushAgent(runtime: runtime, configuration: configuration, handler: RecordingHandler())
                .register()
            configuration.account = .user(name: "alice", password: "")
            let agent = PushAgent(runtime: runtime, configuration: configuration, handler: RecordingHandler())
            let file = StateFile("\(directory)/agent")
            let other = try file.members()
            var voided = other
            voided["accessToken"] = "void"
            try PrivateFile.replace(file.path, with: Array(try JSONSerialization.data(withJSONObject: voided)))
            let session = try agent.session()
            #expect(try await session.token().token == "void")
            try PrivateFile.replace(file.path, with: Array(try JSONSerialization.data(withJSONObject: other)))
            _ = try await session.isSubscribed(to: .bucket(Bucket("box", in: .user("me"))))
            #expect(try await session.token().token.reveal() == file.token())
            await runtime.shutdown()
        }
    }
}
