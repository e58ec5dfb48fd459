import KiiPushCommandLine
import KiiPushCore

extension Profile {
    /// Warns the user if a filter names a topic or bucket without a subscription. Asks the cloud about each target. If
    /// the cloud cannot be reached, only the agent reports the problem.
    func checkSubscriptions(
        to targets: [SubscriptionTarget], of principal: Principal, at cloud: CloudSettings, _ console: Console
    ) async {
        guard !targets.isEmpty,
            let runtime = try? PushRuntime(configuration: cloud.runtimeConfiguration(stateDirectory: self.directory))
        else { return }
        let agent = self.callingAgent(in: runtime, at: cloud)
        for target in targets {
            guard let session = try? agent?.session(),
                let isSubscribed = try? await session.isSubscribed(to: target, as: principal), !isSubscribed
            else { continue }
            console.warning(self.missingSubscription(target))
        }
        await runtime.shutdown()
    }

    private func missingSubscription(_ target: SubscriptionTarget) -> String {
        let known = (try? KnownSubscriptions(directory: self.directory).read()) ?? []
        let guess = suggestion(for: target.text, among: known.map(\.text)).map { "did you mean \($0)? " } ?? ""
        let words = if case .bucket = target { "--\(target.text)" } else { target.text }
        return "this profile is not subscribed to \(target.text), so nothing of it arrives\n         "
            + "\(guess)subscribe with: kii-push subscribe \(words)\(self.option)"
    }
}
