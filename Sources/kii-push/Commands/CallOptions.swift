import KiiPushCommandLine
import KiiPushCore

struct CallOptions: ParsableArguments {
    @Option(value: "TIME", help: "How long one call to the cloud may take (500ms, 10s, 5m). Default: 30s.")
    var timeout: TimeSpan?
}

struct CloudCommandOptions: ParsableArguments {
    @OptionGroup(title: "Output") var output: OutputOptions
    @OptionGroup(title: "Cloud") var profile: ProfileOptions
    @OptionGroup(title: "Cloud") var calls: CallOptions

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
