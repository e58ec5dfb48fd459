/// Makes an agent known to the cloud and keeps it so: token, installation, broker endpoint.
///
/// It stores each step before it takes the next. So a crash in between repeats a step at most, and never leaves behind
/// a pseudo user whose token nobody has.
final class Enrolment: Sendable {
    let client: KiiClient
    private let configuration: PushAgent.Configuration
    let store: AgentStateStore
    private let opened = Locked<KiiSession?>(nil)
    /// The end of the time in which the cloud wants no request for the endpoint (`Retry-After`).
    private let quietUntil = Locked(MonotonicInstant.now())
    /// The number of refusals in a row to give the endpoint.
    private let refusals = Locked(0)
    private let refusalsBeforeGivingUp: Int

    init(
        client: KiiClient, configuration: PushAgent.Configuration, store: AgentStateStore, refusalsBeforeGivingUp: Int
    ) {
        self.refusalsBeforeGivingUp = refusalsBeforeGivingUp
        self.client = client
        self.configuration = configuration
        self.store = store
    }

    private var account: KiiAccount { self.configuration.account }

    /// The state in memory; `nil` when there is none, or when it was not loaded.
    var current: AgentState? { self.store.current }

    /// The state on file, checked against the configuration; `nil` when there is none. Leaves the state in memory as it
    /// is.
    ///
    /// - Throws: ``PushAgentError/file(_:)``, ``PushAgentError/stateOfAnotherAccount(path:)``.
    func stateOnFile() throws(PushAgentError) -> AgentState? {
        let saved = Result { () throws(FileError) in try self.store.read() }
        guard let state = try saved.mapError(PushAgentError.file).get() else { return nil }
        let app = self.client.app
        guard state.appID == app.appID, state.account == self.account.fingerprint,
            state.issuer == app.tokenIssuer
        else { throw .stateOfAnotherAccount(path: self.store.path) }
        return state
    }

    /// Loads the state on file, unless the state in memory is newer.
    func load() throws(PushAgentError) {
        self.store.adopt(try self.stateOnFile())
        let token = self.current?.token
        self.opened.withLock { opened in
            // The session stays where possible: two sessions would use a refresh token twice.
            if opened?.current != token { opened = nil }
        }
    }

    /// The session of the agent's principal. Loads the state on file if nothing was loaded.
    func session() throws(PushAgentError) -> KiiSession {
        if let session = self.opened.withLock({ $0 }) { return session }
        if self.current == nil { self.store.adopt(try self.stateOnFile()) }
        let session = self.makeSession(self.current?.token)
        return self.opened.withLock { opened in
            if let opened { return opened }
            opened = session
            return session
        }
    }

    /// Begins anew: the next call signs in as if for the first time.
    func forget() {
        self.store.forget()
        let session = self.makeSession(nil)
        self.opened.withLock { $0 = session }
    }

    /// The installation's endpoint: from the file, if it has not expired or the cloud wants no request now, else from
    /// the cloud.
    ///
    /// - Parameter refreshing: asks the cloud for the endpoint even if one is on file.
    func endpoint(refreshing: Bool = false) async throws -> MQTTEndpoint {
        let kept = refreshing || self.wantsOtherMembers ? nil : self.current?.endpoint
        if let kept, self.endpointTimeLeft ?? .seconds(1) > .zero || self.endpointPause > .zero { return kept }
        do {
            return try await self.fetchEndpoint()
        } catch let error as KiiError where error.errorCode == KiiErrorCode.installationNotFound {
            // Somebody deleted the installation; POST is an upsert, so this makes at most one.
            try await self.store.update { $0.leaveInstallation() }
            return try await self.fetchEndpoint()
        } catch {
            let failure = TemporaryFailure(error)
            guard failure != nil || self.mayPass(error) || self.isNoWordOfTheCloud(error) else { throw error }
            if let retryAfter = failure?.retryAfter {
                // The agent asks later rather than sooner, and not together with all the others who got the same
                // answer.
                let pause = retryAfter + retryAfter / 10 * Double.random(in: 0...1)
                self.quietUntil.withLock { $0 = .now() + pause }
            }
            // The broker is another server than the cloud: it may be there and accept the endpoint on file.
            guard let kept else { throw error }
            return kept
        }
    }

    /// The time in which the cloud still wants no request for the endpoint, by the last `Retry-After`; zero when it
    /// accepts one.
    var endpointPause: Duration { max(.zero, self.quietUntil.withLock { $0 } - .now()) }

    /// The time until the endpoint expires, negative once it has; `nil` when the cloud did not say.
    ///
    /// - Source: `X-MQTT-TTL`, after which Kii's reference says to ask for a new endpoint
    var endpointTimeLeft: Duration? {
        guard let end = self.current?.endpointExpiresAt else { return nil }
        let (left, overflow) = end.millisecondsSinceEpoch.subtractingReportingOverflow(
            self.client.now().millisecondsSinceEpoch)
        return overflow ? .zero : .milliseconds(left)
    }

    /// Notes that the broker has a session from now on. Runs on the loop's thread, since writing blocks.
    ///
    /// If writing fails, the agent misses a later loss of the session, or the next run mistakes the broker's
    /// repetitions for new messages.
    func sessionOpened(withInboxFile: Bool, usesWebSocket: Bool) {
        self.store.updateOnLoop { state in
            state.hasSession = true
            state.lostSession = false
            state.usesInboxFile = withInboxFile
            state.usesWebSocket = usesWebSocket
        }
    }

    /// The topic's retained message, if the inbox has stored it. It writes its notes on the loop's thread, since
    /// writing blocks.
    ///
    /// - Parameter ledger: returns the inbox's counts.
    func retainedMessage(withInboxFile: Bool, ledger: @escaping () -> MessageLedger) -> RetainedMessage {
        guard withInboxFile else { return RetainedMessage() }
        return RetainedMessage(note: self.current?.retained, ledger: ledger) { [store = self.store] note in
            store.updateOnLoop { $0.retained = note }
        }
    }

    /// Notes, before CONNECT is sent, that a run with the inbox in memory uses the session.
    func leavesInboxFile() async throws { try await self.store.update { $0.usesInboxFile = false } }

    /// Makes a call with the agent's session. Throws ``PushAgentError/pseudoUserLost(_:)``, too.
    func authorized<Result>(_ body: (KiiSession) async throws -> Result) async throws -> Result {
        do {
            return try await body(self.session())
        } catch let refusal as KiiError
            where refusal.refusesToken && self.account == .pseudoUser && !self.isNoWordOfTheCloud(refusal)
        {
            throw PushAgentError.pseudoUserLost(refusal)
        }
    }

    /// Whether the cloud refuses the agent's credentials, so that only a person can help. The refusal of a token counts
    /// only if the account cannot sign in again. If it can, the agent has tried another token already, and its owner
    /// may not make this call.
    func refusesCredentials(_ error: any Error) -> Bool {
        switch error {
        case PushAgentError.signInRefused, PushAgentError.pseudoUserLost: true
        case let refusal as KiiError:
            refusal.refusesToken && !self.account.canSignInAgain && !self.isNoWordOfTheCloud(refusal)
        default: false
        }
    }

    /// The failure to report when a request for the endpoint has failed; `nil` when only a person can help.
    ///
    /// The cloud, or a firewall before it, may refuse the token by mistake, and a pseudo user has nothing else. So the
    /// agent asks again, until the cloud has refused so many times in a row. Each call with such a refusal counts one.
    func temporaryFailure(_ error: any Error) -> TemporaryFailure? {
        if let failure = TemporaryFailure(error) { return failure }
        if self.isNoWordOfTheCloud(error) { return TemporaryFailure(reason: "\(error)") }
        guard self.mayPass(error) else { return nil }
        let count = self.refusals.withLock { count in
            count += 1
            return count
        }
        return count < self.refusalsBeforeGivingUp ? TemporaryFailure(reason: "\(error)") : nil
    }

    /// Whether the cloud refuses the token, perhaps by mistake. A refused password is never tried again.
    func mayPass(_ error: any Error) -> Bool {
        switch error {
        case PushAgentError.pseudoUserLost: true
        case let refusal as KiiError: refusal.status == 401 || refusal.status == 403
        default: false
        }
    }

    /// Whether something other than the cloud may have answered, such as a gateway: whatever the status, the answer has
    /// none of Kii's error codes. It counts only once the agent has been registered. Before that, the address may be
    /// wrong.
    private func isNoWordOfTheCloud(_ error: any Error) -> Bool {
        guard let error = error as? KiiError else { return false }
        return !error.isOfCloud && self.current?.wasRegistered ?? false
    }
}

extension Enrolment {
    private func fetchEndpoint() async throws -> MQTTEndpoint {
        let installationID = try await self.installationID()
        let endpoint = try await self.authorized { try await $0.mqttEndpoint(of: installationID, waiting: .endpoint) }
        self.refusals.withLock { $0 = 0 }
        let end = endpoint.timeToLive.map { self.client.now() + $0 }
        try await self.store.update { state in
            // Another topic is another MQTT session.
            if state.endpoint?.mqttTopic != endpoint.mqttTopic { state.leaveSession() }
            state.endpoint = endpoint
            state.endpointExpiresAt = end
        }
        return endpoint
    }

    private func installationID() async throws -> String {
        if let id = self.current?.installationID, !self.wantsOtherMembers { return id }
        let members = self.configuration.installationMembers ?? self.current?.installationMembers
        let installation = try await self.authorized { session in
            // Before the cloud makes anything, there has to be a token, and a file that holds it.
            _ = try await session.token()
            try self.store.requireFile()
            return try await session.createInstallation(
                isDevelopment: self.configuration.isDevelopment, members: members ?? [:])
        }
        try await self.store.update { state in
            // Somebody deleted the old installation, and this is another one: the inbox may hold messages of the old
            // one.
            if state.installationID != installation.id {
                state.leaveInstallation()
                (state.endpoint, state.endpointExpiresAt) = (nil, nil)
            }
            state.installationID = installation.id
            state.installationMembers = members
        }
        return installation.id
    }

    private var wantsOtherMembers: Bool {
        guard let wanted = self.configuration.installationMembers, let current = self.current else { return false }
        return wanted != current.installationMembers
    }

    private func makeSession(_ token: AccessToken?) -> KiiSession {
        let (client, account, store) = (self.client, self.account, self.store)
        return KiiSession(client: client, token: token) {
            if let current = store.current {
                // Another process of this profile may have obtained the next token meanwhile.
                if store.failure == nil, let saved = try? store.read(), saved.isOfSameOwner(as: current),
                    saved.token.token != current.token.token
                {
                    return saved.token
                }
                guard account.canSignInAgain else { return nil }
            }
            do {
                return try await account.signIn(with: client)
            } catch let error as KiiError
                where !error.isTransient && (error.isOfCloud || store.current?.wasRegistered != true)
            {
                throw PushAgentError.signInRefused(error)
            }
        } changed: { token in
            guard let principal = token.principal else { return }
            try await store.take(token, of: principal, app: client.app, account: account.fingerprint)
        }
    }
}
