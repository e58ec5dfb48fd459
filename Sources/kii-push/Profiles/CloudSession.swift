import KiiPushCore

/// A profile's conversation with its cloud, over REST, for the length of one command. It takes no lock and opens no
/// MQTT session, so it works while an agent of the same profile is running.
final class CloudSession: Sendable {
    let profile: Profile
    let cloud: CloudSettings
    let console: Console
    /// The session of the app's administrator; `nil` when nobody's credentials are at hand.
    let admin: KiiSession?
    let runtime: PushRuntime
    /// The profile's agent, which only signs in here; `nil` when the profile was never registered.
    private let agent: PushAgent?

    private init(profile: Profile, cloud: CloudSettings, calls: CallOptions, console: Console) throws {
        self.profile = profile
        self.cloud = cloud
        self.console = console
        self.runtime = try PushRuntime(
            configuration: cloud.runtimeConfiguration(stateDirectory: profile.directory, calls: calls))
        self.admin = cloud.admin?.session(self.runtime.client(for: cloud.app))
        self.agent = profile.saved.map { [runtime] saved in
            PushAgent(
                runtime: runtime, configuration: profile.agentConfiguration(saved.account, app: cloud.app),
                handler: NoHandler())
        }
    }

    /// Opens a session for `body` and closes it, whatever comes of it.
    static func use(
        _ options: ProfileOptions, _ calls: CallOptions, console: Console, _ body: (CloudSession) async throws -> Void
    ) async throws {
        let profile = try Profile(options)
        let cloud = try profile.cloud(options)
        cloud.warn(console)
        console.detail("app \(cloud.app.appID) at \(cloud.app.baseURL), named by the \(cloud.source.rawValue)")
        let session = try CloudSession(profile: profile, cloud: cloud, calls: calls, console: console)
        do {
            try await console.waiting { try await body(session) }
        } catch {
            await session.runtime.shutdown()
            throw session.advising(error)
        }
        await session.runtime.shutdown()
    }

    /// Adds what helps here, and what it costs.
    private func advising(_ error: any Error) -> any Error {
        var failure = CommandFailure(describing: error)
        switch error {
        case let refusal as KiiError where refusal.refusesCredentials: failure.hint = self.profile.hint(after: refusal)
        case let error as TransportError where error.code == .timedOut:
            failure.hint = "allow a call more time with --timeout"
        default: return error
        }
        return failure
    }

    /// The registration of the profile with this cloud.
    func registration() throws -> Registration { try self.profile.registration(with: self.cloud).registration }

    /// The session of the profile's user or thing.
    func own() throws -> KiiSession {
        _ = try self.registration()
        guard let agent = self.agent else {
            throw CommandFailure(.internalError, "profile '\(self.profile.name)' is registered and has no account")
        }
        return try agent.session()
    }
}

extension AdminCredentials {
    /// A session of the app's administrator.
    func session(_ client: KiiClient) -> KiiSession {
        KiiSession(
            client: client,
            signIn: { try await client.login(.administrator(clientID: self.clientID, clientSecret: self.clientSecret)) }
        )
    }
}

/// For agents that never receive.
struct NoHandler: AsyncRemoteNotificationHandler {
    func didReceiveRemoteNotification(_ message: ReceivedMessage, context: DeliveryContext) async -> FetchResult {
        .failed
    }
}
