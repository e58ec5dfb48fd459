import KiiPushCommandLine
import KiiPushCore

/// A profile's REST session, for one command. It does not lock the state directory and opens no MQTT connection, so it
/// works while an agent of the same profile is running.
final class CloudSession: Sendable {
    let profile: Profile
    let cloud: CloudSettings
    let console: Console
    let admin: KiiSession?
    let runtime: PushRuntime
    private let agent: PushAgent?

    init(profile: Profile, cloud: CloudSettings, calls: CallOptions, console: Console) throws {
        (self.profile, self.cloud, self.console) = (profile, cloud, console)
        self.runtime = try PushRuntime(
            configuration: cloud.runtimeConfiguration(stateDirectory: profile.directory, calls: calls))
        self.admin = cloud.admin?.session(self.runtime.client(for: cloud.app))
        self.agent = profile.callingAgent(in: self.runtime, at: cloud)
    }

    func advising(_ error: any Error) -> any Error {
        var failure = CommandFailure(describing: error)
        switch error {
        case let refusal as KiiError where refusal.refusesCredentials: failure.hint = self.profile.hint(after: refusal)
        case let error as TransportError where error.code == .timedOut:
            failure.hint = "allow a call more time with --timeout"
        default: return error
        }
        return failure
    }

    func registration() throws -> Registration { try self.profile.registration(with: self.cloud).registration }

    func own() throws -> KiiSession {
        _ = try self.registration()
        guard let agent = self.agent else {
            throw CommandFailure(.internalError, "profile '\(self.profile.name)' is registered and has no account")
        }
        return try agent.session()
    }
}

extension AdminCredentials {
    func session(_ client: KiiClient) -> KiiSession {
        KiiSession(
            client: client,
            signIn: { try await client.login(.administrator(clientID: self.clientID, clientSecret: self.clientSecret)) }
        )
    }
}

extension PushRuntime {
    func shuttingDown<Result>(after body: () async throws -> Result) async throws -> Result {
        do {
            let result = try await body()
            await self.shutdown()
            return result
        } catch {
            await self.shutdown()
            throw error
        }
    }
}

struct NoHandler: AsyncRemoteNotificationHandler {
    func didReceiveRemoteNotification(_ message: ReceivedMessage, context: DeliveryContext) async -> FetchResult {
        .failed
    }
}
