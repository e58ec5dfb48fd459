import KiiPushCommandLine
import KiiPushCore

extension Profile {
    /// Registers the profile with the cloud, and stores its account and secrets for later commands.
    ///
    /// - Parameters:
    ///   - isReplacing: whether to give up the stored registration.
    ///   - payload: the form of pushes; `nil` keeps the present form, unless `isAnew`.
    ///   - isAnew: whether to drop all choices of the former registration.
    func register(
        _ account: SavedProfile.Account, with cloud: CloudSettings, calls: CallOptions? = nil,
        isReplacing: Bool = false, isCreatingUser: Bool = false, payload: PayloadFormat? = nil, isAnew: Bool = false
    ) async throws -> (saved: SavedProfile, registration: Registration) {
        try PrivateFile.makeDirectory(self.directory)
        let runtime = try PushRuntime(
            configuration: cloud.runtimeConfiguration(stateDirectory: self.directory, calls: calls))
        var configuration = self.agentConfiguration(account, at: cloud, creatingUser: isCreatingUser)
        // The new registration keeps the choices of the replaced one.
        let kept = isReplacing && !isAnew ? self.registration?.installationMembers : nil
        configuration.installationMembers = payload?.members ?? kept
        let agent = PushAgent(runtime: runtime, configuration: configuration, handler: NoHandler())
        let registration: Registration
        do {
            registration = try await runtime.shuttingDown { try await agent.register(replacing: isReplacing) }
        } catch {
            throw isCreatingUser ? error : self.advising(error, account)
        }
        let saved = SavedProfile(cloud: cloud.identity, account: account)
        if isReplacing { KnownSubscriptions(directory: self.directory).forget() }
        let appKey = cloud.source == .emulator ? nil : cloud.app.appKey
        try self.credentials.write(directory: self.directory, appKey: appKey)
        try saved.write(directory: self.directory)
        return (saved, registration)
    }

    /// The cloud does not say whether the name or the password is wrong. The hint is for a user that does not exist.
    private func advising(_ error: any Error, _ account: SavedProfile.Account) -> any Error {
        guard case .user = account, case .signInRefused(let refusal)? = error as? PushAgentError,
            refusal.errorCode != KiiErrorCode.appNotFound, !refusal.saysDisabled
        else { return CommandFailure.advising(error, of: self.name) }
        var failure = CommandFailure(describing: error)
        failure.hint = "if there is no \(account.text) yet, create it: add --create"
        return failure
    }
}
