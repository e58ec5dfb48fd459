import KiiPushCore

/// A profile's conversation with its cloud, over REST, for the length of one command.
///
/// It takes no lock and opens no MQTT session, so it works while an agent of the same profile is running.
final class CloudSession: Sendable {
    let profile: Profile
    let cloud: CloudSettings
    let client: KiiClient
    let console: Console
    private let runtime: PushRuntime

    private init(profile: Profile, cloud: CloudSettings, console: Console) throws {
        self.profile = profile
        self.cloud = cloud
        self.console = console
        self.runtime = try PushRuntime(
            configuration: cloud.runtimeConfiguration(stateDirectory: profile.directory)
        )
        self.client = self.runtime.client(for: cloud.app)
    }

    /// Opens a session for `body` and closes it, whatever comes of it.
    static func use(
        _ options: ProfileOptions,
        console: Console,
        _ body: (CloudSession) async throws -> Void
    ) async throws {
        let profile = try Profile(options)
        let cloud = try profile.cloud(options)
        cloud.warn(console)
        console.detail("app \(cloud.app.appID) at \(cloud.app.baseURL), named by the \(cloud.source.rawValue)")
        let session = try CloudSession(profile: profile, cloud: cloud, console: console)
        do {
            try await body(session)
        } catch {
            await session.runtime.shutdown()
            guard let refusal = error as? KiiError, refusal.refusesCredentials else { throw error }
            var failure = CommandFailure(describing: refusal)
            failure.hint = "sign in again: kii-push register --anew; or as the app's admin: kii-push help files"
            throw failure
        }
        await session.runtime.shutdown()
    }

    /// The registration of the profile with this cloud.
    func registration() throws -> Registration {
        try self.profile.registration(with: self.cloud).registration
    }

    /// The token of the profile's user or thing, renewed where needed.
    func ownToken() async throws -> Secret {
        let saved = try self.profile.registration(with: self.cloud).saved
        let agent = PushAgent(
            runtime: self.runtime,
            configuration: self.profile.agentConfiguration(saved.account, app: self.cloud.app),
            handler: NoHandler()
        )
        return try await agent.accessToken().token
    }
}

/// For agents that never receive.
struct NoHandler: AsyncRemoteNotificationHandler {
    func didReceiveRemoteNotification(_ message: ReceivedMessage, context: DeliveryContext) async -> FetchResult {
        .failed
    }
}
