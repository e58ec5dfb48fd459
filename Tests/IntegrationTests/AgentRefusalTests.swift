import Foundation
import Glibc
import KiiPushCore
import KiiPushEmulator
import TestSupport
import Testing

/// Refusals that end a run, because only a person can remove the cause.
@Suite struct AgentRefusalTests {
    private static let target = SubscriptionTarget.topic(Topic("alerts"))

    private func agent(_ runtime: PushRuntime, _ emulator: Emulator, _ account: KiiAccount) -> PushAgent {
        PushAgent(
            runtime: runtime,
            configuration: .init(app: emulator.app, account: account, subscriptions: [Self.target]),
            handler: RecordingHandler(), reconnect: .quick,
            subscriptionRetry: Backoff(from: .milliseconds(10), upTo: .milliseconds(20)))
    }

    private func refusesTokensOnSubscribing(_ emulator: Emulator) async throws {
        try await emulator.control(
            "POST", "faults",
            [
                "path": "/api/apps/*/topics/alerts/push/subscriptions/**", "times": 1000,
                "status": 401, "errorCode": "UNAUTHORIZED",
            ])
    }

    private func refusalsUntilGivenUp(_ events: AsyncStream<PushEvent>) async -> Int {
        var refusals = 0
        for await event in events {
            guard case .subscriptionFailed(_, _, let retryIn) = event else { continue }
            refusals += 1
            if retryIn == nil { break }
        }
        return refusals
    }

    @Test func aPseudoUserWhoseTokenIsRefusedOnSubscribing() async throws {
        try await withEmulator { emulator, directory in
            let runtime = try emulator.runtime("\(directory)/agent")
            let agent = self.agent(runtime, emulator, .pseudoUser)
            try await agent.register()
            try await self.refusesTokensOnSubscribing(emulator)
            let events = agent.events
            let error = await #expect(throws: PushAgentError.self) { try await agent.run() }
            guard case .pseudoUserLost = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(await self.refusalsUntilGivenUp(events) == 10)
            await runtime.shutdown()
        }
    }

    @Test func aUserWithoutPasswordWhoseTokenIsRefusedOnSubscribing() async throws {
        try await withEmulator { emulator, directory in
            let runtime = try emulator.runtime("\(directory)/agent")
            let known = KiiAccount.user(name: "alice", password: "pass word", createsIfMissing: true)
            try await self.agent(runtime, emulator, known).register()
            try await self.refusesTokensOnSubscribing(emulator)
            let agent = self.agent(runtime, emulator, .user(name: "alice", password: ""))
            let error = await #expect(throws: KiiError.self) { try await agent.run() }
            #expect(error?.status == 401)
            await runtime.shutdown()
        }
    }

    @Test func whoCanSignInAgainGoesOnWhenACallIsRefused() async throws {
        try await withEmulator { emulator, directory in
            let runtime = try emulator.runtime("\(directory)/agent")
            let known = KiiAccount.user(name: "alice", password: "pass word", createsIfMissing: true)
            let agent = self.agent(runtime, emulator, known)
            try await self.refusesTokensOnSubscribing(emulator)
            let events = agent.events
            let later = agent.events
            try await whileRunning(agent) {
                let failure = await firstEvent(events) { if case .subscriptionFailed = $0 { true } else { false } }
                guard case .subscriptionFailed(_, _, .some) = failure else { throw TestFailure("\(failure as Any)") }
                #expect(await firstEvent(later) { if case .connected = $0 { true } else { false } } != nil)
            }
            await runtime.shutdown()
        }
    }

    @Test func aLockThatCannotBeTakenSaysWhy() async throws {
        try await withEmulator { emulator, directory in
            let runtime = try emulator.runtime("\(directory)/agent", lockDirectory: "\(directory)/locks")
            let agent = self.agent(runtime, emulator, .pseudoUser)
            try await agent.register()
            let folder = "\(directory)/locks/kii-push-\(geteuid())/installations"
            let lock = "\(folder)/\(try #require(FileManager.default.contentsOfDirectory(atPath: folder).first))"
            try FileManager.default.removeItem(atPath: lock)
            try PrivateFile.makeDirectory(lock)
            let error = await #expect(throws: PushAgentError.self) { try await agent.run() }
            #expect(error?.description == "\(lock) is a link or not a regular file; put a regular file in its place")
            await runtime.shutdown()
        }
    }
}
