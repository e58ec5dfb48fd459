import KiiPushCommandLine
import KiiPushCore

/// Warns the user if a filter names a topic or bucket without a subscription.
struct SubscriptionCheck: Sendable {
    let profile: Profile
    let cloud: CloudSettings
    let account: SavedProfile.Account
    let console: Console

    /// Asks the cloud about each target. If the cloud cannot be reached, only the agent reports the problem.
    func warn(about targets: [SubscriptionTarget], of principal: Principal) async {
        guard !targets.isEmpty,
            let runtime = try? PushRuntime(
                configuration: self.cloud.runtimeConfiguration(stateDirectory: self.profile.directory))
        else { return }
        let agent = self.profile.callingAgent(in: runtime, at: self.cloud)
        for target in targets {
            guard let session = try? agent?.session(),
                let isSubscribed = try? await session.isSubscribed(to: target, as: principal), !isSubscribed
            else { continue }
            self.console.warning(self.text(target))
        }
        await runtime.shutdown()
    }

    private func text(_ target: SubscriptionTarget) -> String {
        let known = (try? KnownSubscriptions(directory: self.profile.directory).read()) ?? []
        let guess = suggestion(for: target.text, among: known.map(\.text)).map { "did you mean \($0)? " } ?? ""
        let words = if case .bucket = target { "--\(target.text)" } else { target.text }
        return "this profile is not subscribed to \(target.text), so nothing of it arrives\n         "
            + "\(guess)subscribe with: kii-push subscribe \(words)\(self.profile.option)"
    }
}
