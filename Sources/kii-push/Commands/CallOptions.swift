import KiiPushCommandLine
import KiiPushCore

/// The time limit for the cloud: the same in every command that ends with the cloud's answer.
struct CallOptions: ParsableArguments {
    @Option(value: "TIME", help: "How long one call to the cloud may take (500ms, 10s, 5m). Default: 30s.")
    var timeout: TimeSpan?
}

/// The options of every command that ends with the cloud's answer.
struct CloudCommandOptions: ParsableArguments {
    @OptionGroup(title: "Output") var output: OutputOptions
    @OptionGroup(title: "Cloud") var profile: ProfileOptions
    @OptionGroup(title: "Cloud") var calls: CallOptions

    /// Opens a session for `body`, and closes it even after an error.
    func withSession(_ body: (CloudSession) async throws -> Void) async throws {
        let console = self.output.console
        let profile = try Profile(self.profile)
        let cloud = try profile.cloud(self.profile)
        cloud.warn(console)
        console.detail("app \(cloud.app.appID) at \(cloud.app.baseURL), named by the \(cloud.source.rawValue)")
        let session = try CloudSession(profile: profile, cloud: cloud, calls: self.calls, console: console)
        do {
            try await session.runtime.shuttingDown { try await console.waiting { try await body(session) } }
        } catch {
            throw session.advising(error)
        }
    }
}
