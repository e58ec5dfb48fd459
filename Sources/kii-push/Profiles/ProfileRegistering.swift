import KiiPushCore

/// How a profile is made known to the cloud, where that is not as usual.
struct ProfileRegistering: Sendable {
    /// Whether what is on file is given up.
    var isReplacing = false
    /// Whether a user that is missing is created.
    var isCreatingUser = false
    /// How pushes are written; `nil` for as they are.
    var payload: PayloadFormat?
    /// Whether nothing of what the profile was is wanted any more.
    var isAnew = false
}

extension Profile {
    /// Makes the profile known to the cloud, and writes down what it is and what later commands sign in with. Throws as
    /// ``PushAgent/register(replacing:)``, and ``FileError``.
    func register(
        _ account: SavedProfile.Account, with cloud: CloudSettings, calls: CallOptions? = nil,
        _ how: ProfileRegistering = ProfileRegistering()
    ) async throws -> (saved: SavedProfile, registration: Registration) {
        let registration = try await self.registration(of: account, cloud, calls, how)
        let saved = SavedProfile(cloud: cloud.identity, account: account)
        var credentials = self.credentials
        credentials.appKey = cloud.source == .emulator ? nil : cloud.app.appKey
        if how.isReplacing { KnownSubscriptions(directory: self.directory).forget() }
        try credentials.write(directory: self.directory)
        try saved.write(directory: self.directory)
        return (saved, registration)
    }

    private func registration(
        of account: SavedProfile.Account, _ cloud: CloudSettings, _ calls: CallOptions?, _ how: ProfileRegistering
    ) async throws -> Registration {
        try PrivateFile.makeDirectory(self.directory)
        let runtime = try PushRuntime(
            configuration: cloud.runtimeConfiguration(stateDirectory: self.directory, calls: calls))
        var configuration = self.agentConfiguration(account, app: cloud.app, creatingUser: how.isCreatingUser)
        configuration.payload = how.payload
        if how.payload == nil, how.isReplacing, !how.isAnew {
            // The emulator is another one; what the profile wants is the same.
            let former = PushAgent(runtime: runtime, configuration: configuration, handler: NoHandler())
            configuration.payload = (try? former.registration())?.payload
        }
        let agent = PushAgent(runtime: runtime, configuration: configuration, handler: NoHandler())
        do {
            let registration = try await agent.register(replacing: how.isReplacing)
            await runtime.shutdown()
            return registration
        } catch {
            await runtime.shutdown()
            throw how.isCreatingUser ? error : Self.advising(error, account)
        }
    }

    /// The cloud tells nobody whether the name or the password is wrong, so the advice is for both.
    private static func advising(_ error: any Error, _ account: SavedProfile.Account) -> any Error {
        guard case .user = account, case .signInRefused(let refusal)? = error as? PushAgentError,
            refusal.errorCode != .appNotFound, !refusal.saysDisabled
        else { return error }
        var failure = CommandFailure(describing: error)
        failure.hint = "if there is no \(account.text) yet, create it: add --create"
        return failure
    }
}
