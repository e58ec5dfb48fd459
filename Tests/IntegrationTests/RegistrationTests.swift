import Foundation
import Glibc
import KiiPushCore
import KiiPushEmulator
import TestSupport
import Testing

@Suite struct RegistrationTests {
    private func agent(
        _ emulator: Emulator,
        _ runtime: PushRuntime,
        account: KiiAccount = .pseudoUser,
        members: JSONValue? = nil,
        handler: RecordingHandler = RecordingHandler()
    ) -> PushAgent {
        var configuration = PushAgent.Configuration(app: emulator.app, account: account)
        configuration.installationMembers = members
        return PushAgent(runtime: runtime, configuration: configuration, handler: handler, reconnect: .quick)
    }

    @Test func registeringTwiceChangesNothing() async throws {
        try await withEmulator { emulator, directory in
            let runtime = try emulator.runtime("\(directory)/agent")
            let agent = self.agent(emulator, runtime)
            let first = try await agent.register()
            #expect(try await agent.register() == first)
            #expect(try agent.registration() == first)
            await runtime.shutdown()
        }
    }

    @Test func replacingBeginsAnew() async throws {
        try await withEmulator { emulator, directory in
            let runtime = try emulator.runtime("\(directory)/agent")
            let agent = self.agent(emulator, runtime)
            let first = try await agent.register()
            let second = try await agent.register(replacing: true)
            #expect(first.principal != second.principal)
            #expect(first.mqttTopic != second.mqttTopic)
            await runtime.shutdown()
        }
    }

    @Test func anInstallationThatWasDeletedIsMadeAgain() async throws {
        try await withTemporaryDirectory { directory in
            let configuration = Emulator.Configuration.patient(in: directory)
            let before = try await Emulator.start(configuration)
            let runtime = try before.runtime("\(directory)/agent")
            let handler = RecordingHandler()
            let agent = self.agent(before, runtime, handler: handler)
            let first = try await agent.register()
            let token = try await agent.session().token()
            try await agent.client.session(token.token).deleteInstallation(.id(first.installationID))
            // The restarted broker refuses the credentials of the deleted installation.
            await before.stop()
            let after = try await Emulator.start(configuration)
            let events = agent.events
            try await whileRunning(agent) {
                _ = await firstEvent(events) { if case .connected = $0 { true } else { false } }
                let admin = try await after.adminToken(agent.client)
                _ = try await agent.client.session(admin).send(
                    PushMessage(data: ["n": 1]), to: .user(first.principal.id))
                let calls = await handler.next(1)
                #expect(calls.first?.context.installationID != first.installationID)
            }
            #expect(try agent.registration()?.principal == first.principal)
            await runtime.shutdown()
            await after.stop()
        }
    }

    /// The format of pushes for each installation, from the emulator.
    private func payloads(_ emulator: Emulator) async throws -> [String?]? {
        try await emulator.control("GET", "installations")["installations"]?.array?.map { $0["payload"]?.string }
    }

    @Test func theFormatOfPayloadsIsChangedWhenItIsNamedAndKeptOtherwise() async throws {
        try await withEmulator { emulator, directory in
            let runtime = try emulator.runtime("\(directory)/agent")
            let first = try await self.agent(emulator, runtime).register()
            #expect(try await self.payloads(emulator) == ["mqtt"])
            let second = try await self.agent(emulator, runtime, members: ["payload": "apns"]).register()
            #expect(second.installationID == first.installationID)
            #expect(second.mqttTopic == first.mqttTopic)
            #expect(second.installationMembers == ["payload": "apns"])
            #expect(try await self.payloads(emulator) == ["apns"])
            let agent = self.agent(emulator, runtime)
            #expect(try await agent.register() == second)
            #expect(try await self.payloads(emulator) == ["apns"])
            // The installation that replaces a deleted one also keeps the format.
            let token = try await agent.session().token()
            try await agent.client.session(token.token).deleteInstallation(.id(first.installationID))
            #expect(try await agent.register().installationID != first.installationID)
            #expect(try await self.payloads(emulator) == ["apns"])
            await runtime.shutdown()
        }
    }

    @Test func messagesOfAnInstallationThatWasDeletedAreHandledByAnAgentThatWantsAnotherFormat() async throws {
        try await withEmulator { emulator, directory in
            let runtime = try emulator.runtime("\(directory)/agent")
            let agent = self.agent(emulator, runtime, handler: RecordingHandler { _ in .failed })
            let first = try await agent.register()
            let events = agent.events
            try await whileRunning(agent) {
                let admin = try await emulator.adminToken(agent.client)
                _ = try await agent.client.session(admin).send(
                    PushMessage(data: ["n": 1]), to: .user(first.principal.id))
                _ = await firstEvent(events) { event in
                    if case .message(let message) = event, case .failed = message.kind { true } else { false }
                }
            }
            let token = try await agent.session().token()
            try await agent.client.session(token.token).deleteInstallation(.id(first.installationID))
            let handler = RecordingHandler()
            try await whileRunning(self.agent(emulator, runtime, members: ["payload": "apns"], handler: handler)) {
                #expect(await handler.next(1).first?.context.installationID == first.installationID)
            }
            await runtime.shutdown()
        }
    }

    @Test func anEndpointThatIsNotReadyIsWaitedFor() async throws {
        try await withEmulator { emulator, directory in
            try await emulator.control(
                "POST", "faults",
                [
                    "path": "/api/apps/*/installations/*/mqtt-endpoint", "times": 2, "status": 503,
                    "errorCode": "MQTT_ENDPOINT_NOT_READY", "retryAfter": 1,
                ])
            let runtime = try emulator.runtime("\(directory)/agent")
            _ = try await self.agent(emulator, runtime).register()
            #expect(try await emulator.control("GET", "faults")["faults"] == [])
            await runtime.shutdown()
        }
    }

    @Test func theStateFileHoldsTheTokenForItsOwnerAlone() async throws {
        try await withEmulator { emulator, directory in
            let runtime = try emulator.runtime("\(directory)/agent")
            _ = try await self.agent(emulator, runtime).register()
            for file in ["agents/default.json", "inbox.sqlite", "lock"] {
                var status = stat()
                #expect(stat("\(directory)/agent/\(file)", &status) == 0)
                #expect(status.st_mode & 0o077 == 0, "\(file) is open to others")
            }
            await runtime.shutdown()
        }
    }

    @Test(arguments: [
        ("{", "cannot be read"), (#"{"version":99}"#, "newer version"), (#"{"version":1}"#, "cannot be read"),
        (
            #"{"version":1,"appID":"kiilocal","account":"pseudo-user","principalType":"user","principalID":"u","#
                + #""accessToken":"t"}"#, "/issuer is missing"
        ),
        (
            #"{"version":1,"appID":"other","account":"pseudo-user","principalType":"user","principalID":"u"#
                + #"","accessToken":"t","issuer":"https://other.test"}"#, "another app, cloud or account"
        ),
        (
            #"{"version":1,"appID":"kiilocal","account":"pseudo-user","principalType":"user","principalID":"u","#
                + #""accessToken":"t","issuer":"https://other.test"}"#, "another app, cloud or account"
        ),
    ])
    func aStateFileThatCannotBeUsedIsNamed(content: String, expected: String) async throws {
        try await withEmulator { emulator, directory in
            let path = "\(directory)/agent/agents/default.json"
            try PrivateFile.makeDirectory("\(directory)/agent/agents")
            try PrivateFile.replace(path, with: Array(content.utf8))
            let runtime = try emulator.runtime("\(directory)/agent")
            await #expect {
                try await self.agent(emulator, runtime).run()
            } throws: { error in
                "\(error)".contains(path) && "\(error)".contains(expected)
            }
            await runtime.shutdown()
        }
    }

    @Test func aStateFileOpenToOthersIsRefused() async throws {
        try await withEmulator { emulator, directory in
            let runtime = try emulator.runtime("\(directory)/agent")
            let agent = self.agent(emulator, runtime)
            _ = try await agent.register()
            chmod("\(directory)/agent/agents/default.json", 0o644)
            await #expect {
                try await agent.run()
            } throws: { error in
                "\(error)".contains("chmod 600")
            }
            await runtime.shutdown()
        }
    }

    @Test func aDamagedInboxIsMovedAsideAndReported() async throws {
        try await withEmulator { emulator, directory in
            let inbox = "\(directory)/agent/inbox.sqlite"
            try PrivateFile.makeDirectory("\(directory)/agent")
            try PrivateFile.replace(inbox, with: [UInt8](repeating: 0x41, count: 8192))
            let runtime = try emulator.runtime("\(directory)/agent")
            let agent = self.agent(emulator, runtime)
            let events = agent.events
            let event = try await whileRunning(agent) {
                await firstEvent(events) { if case .inboxMovedAside = $0 { true } else { false } }
            }
            guard case .inboxMovedAside(let path, _, 0, nil)? = event else {
                Issue.record("the damage was not reported")
                return
            }
            #expect(FileManager.default.contents(atPath: path)?.count == 8192)
            await runtime.shutdown()
        }
    }

    @Test func aCloudThatIsDownIsWaitedFor() async throws {
        try await withTemporaryDirectory { directory in
            let configuration = Emulator.Configuration.patient(in: directory)
            let before = try await Emulator.start(configuration)
            await before.stop()
            let runtime = try before.runtime("\(directory)/agent")
            let agent = self.agent(before, runtime)
            let events = agent.events
            try await whileRunning(agent) {
                #expect(await firstEvent(events) { if case .disconnected = $0 { true } else { false } } != nil)
                let after = try await Emulator.start(configuration)
                #expect(await firstEvent(events) { if case .connected = $0 { true } else { false } } != nil)
                await after.stop()
            }
            await runtime.shutdown()
        }
    }
}
