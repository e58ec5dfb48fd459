import KiiPushCore
import KiiPushEmulator
import TestSupport
import Testing

/// This project's own client against the emulator by HTTPS.
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
}

extension Emulator {
    fileprivate var secureApp: KiiApp {
        get throws { KiiApp(appID: self.appID, appKey: self.appKey, baseURL: try #require(self.httpsBaseURL)) }
    }
}
