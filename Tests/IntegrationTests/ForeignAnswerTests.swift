import KiiPushCore
import TestSupport
import Testing

/// Answers from a gateway or a proxy without the cloud behind it. The agent does not take them as the cloud's answers.
@Suite struct ForeignAnswerTests {
    private static let account = KiiAccount.user(name: "alice", password: "pass word")
    private static let page = "<html>We will be back soon.</html>"

    @Test(arguments: [301, 302, 400, 401, 403, 404, 405, 408, 421, 451])
    func anAgentThatWasRegisteredOutlivesThem(status: Int) async throws {
        let answer = FakeCloud.Answer(status: status, body: Self.page)
        try await RefusedAgent.with(Self.account, answer, times: 12) { try await $0.runUntilItReceives() }
    }

    @Test func theCloudsOwnRefusalEndsIt() async throws {
        let answer = FakeCloud.Answer(status: 400, body: #"{"error":"invalid_grant","error_description":"no"}"#)
        try await RefusedAgent.with(Self.account, answer, times: 1000) { refused in
            let error = await #expect(throws: PushAgentError.self) { try await refused.agent.run() }
            guard case .signInRefused = error else { throw TestFailure("\(String(describing: error))") }
        }
    }

    /// The request has the token. The refusal costs neither a pseudo user nor a named user the account.
    @Test(arguments: [401, 403], [KiiAccount.pseudoUser, account])
    func theTokenIsNotGivenUpForThem(status: Int, account: KiiAccount) async throws {
        try await withFakeBroker { broker, runtime, configuration in
            let file = "\(runtime.configuration.stateDirectory)/agents/default.json"
            if account != .pseudoUser { try change("account", to: "user:alice", in: file) }
            try change("endpointExpiresAt", to: 0, in: file)
            let cloud = try FakeCloud { _ in .init(status: status, body: Self.page) }
            var configuration = configuration
            configuration.account = account
            let agent = PushAgent(of: cloud, runtime, configuration)
            try await whileRunning(agent) {
                // The tenth refusal by the cloud itself would end the run.
                for _ in 1...15 {
                    try await broker.play { broker in
                        let connection = try broker.acceptSession()
                        connection.reset()
                    }
                }
            }
            #expect(cloud.requests.count >= 10)
        }
    }

    /// Before the first registration the address may be wrong, and a person reads the error.
    @Test(arguments: [302, 403, 404])
    func whoWasNeverRegisteredIsTold(status: Int) async throws {
        try await withTemporaryDirectory { directory in
            let cloud = try FakeCloud { _ in .init(status: status, body: Self.page) }
            let runtime = try PushRuntime(configuration: .patient(stateDirectory: directory))
            let agent = PushAgent(of: cloud, runtime, .init(app: AgentStateFixture.app, account: Self.account))
            let error = await #expect(throws: PushAgentError.self) { try await agent.run() }
            guard case .signInRefused(let refusal) = error else { throw TestFailure("\(String(describing: error))") }
            #expect(refusal.status == status)
            await runtime.shutdown()
        }
    }
}
