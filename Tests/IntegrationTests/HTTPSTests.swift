import Foundation
import KiiPushCore
import KiiPushEmulator
import TestSupport
import Testing

@Suite struct HTTPSTests {
    @Test func theClientRegistersInstallsAndGetsAnEndpoint() async throws {
        try await withEmulator { emulator, directory in
            let runtime = try emulator.runtime("\(directory)/agent")
            let client = runtime.client(for: try emulator.secureApp)
            let user = try await client.registerPseudoUser()
            let installation = try await client.session(user.token).createInstallation()
            let endpoint = try await client.session(user.token).mqttEndpoint(of: installation.id)
            #expect(endpoint.portSSL == emulator.mqttTLSPort)
            await runtime.shutdown()
        }
    }

    @Test func withoutTheAuthorityTheClientSendsNothing() async throws {
        try await withEmulator { emulator, directory in
            let runtime = try PushRuntime(configuration: .patient(stateDirectory: "\(directory)/agent"))
            let client = runtime.client(for: try emulator.secureApp)
            let error = await #expect(throws: TransportError.self) { _ = try await client.registerPseudoUser() }
            #expect(error?.code == .certificateNotTrusted)
            await runtime.shutdown()
        }
    }

    /// Another program rewrites the authority's file while the agent requests a new endpoint.
    @Test func anAuthoritysFileThatIsHalfWrittenEndsNoAgentThatHasConnected() async throws {
        try await withEmulator { emulator, directory in
            let file = URL(filePath: "\(directory)/authority.pem")
            let authority = try Data(contentsOf: URL(filePath: emulator.certificateAuthorityFile))
            try authority.write(to: file)
            func agent() throws -> (PushRuntime, PushAgent) {
                var settings = PushRuntime.Configuration.patient(stateDirectory: "\(directory)/agent")
                settings.certificateAuthorityFile = file.path
                let runtime = try PushRuntime(configuration: settings)
                let configuration = PushAgent.Configuration(app: try emulator.secureApp, account: .pseudoUser)
                let agent = PushAgent(
                    runtime: runtime, configuration: configuration, handler: RecordingHandler(), reconnect: .quick)
                return (runtime, agent)
            }
            let (first, registering) = try agent()
            let registration = try await registering.register()
            await first.shutdown()
            // The second agent has no open connection to the cloud to reuse.
            let (runtime, receiving) = try agent()
            let events = receiving.events
            try await whileRunning(receiving) {
                #expect(await firstEvent(events) { if case .connected = $0 { true } else { false } } != nil)
                try Data("-----BEGIN CERT".utf8).write(to: file)
                try await emulator.control("POST", "installations/\(registration.installationID)/rotate")
                // One loss of the connection, one failed attempt, and the results of requests to the cloud.
                for _ in 1...4 {
                    #expect(await firstEvent(events) { if case .disconnected = $0 { true } else { false } } != nil)
                }
                try authority.write(to: file)
                #expect(await firstEvent(events) { if case .connected = $0 { true } else { false } } != nil)
            }
            await runtime.shutdown()
        }
    }
}

extension Emulator {
    fileprivate var secureApp: KiiApp {
        get throws { KiiApp(appID: self.appID, appKey: self.appKey, baseURL: try #require(self.httpsBaseURL)) }
    }
}
