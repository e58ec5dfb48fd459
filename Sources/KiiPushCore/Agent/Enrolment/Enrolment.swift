/// Obtains an agent's token, installation and broker endpoint from the cloud, and stores them.
///
/// Each result is stored before the next step, so a crash repeats at most one step, unless writing fails. A new user's
/// token is on file before the user gets an installation.
final class Enrolment: Sendable {
    let client: KiiClient
    private let configuration: PushAgent.Configuration
    let store: AgentStateStore
    private let opened = Locked<KiiSession?>(nil)
    /// The end of the cloud's last `Retry-After` for the endpoint.
    private let quietUntil = Locked(MonotonicInstant.now())
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

    var current: AgentState? { self.store.current }

    func stateOnFile() throws(PushAgentError) -> AgentState? {
        let saved = Result { () throws(FileError) in try self.store.read() }
        guard let state = try saved.mapError(PushAgentError.file).get() else { return nil }
        let app = self.client.app
        guard state.appID == app.appID, state.account == self.account.fingerprint,
            state.issuer == app.tokenIssuer
        else { throw .stateOfAnotherAccount(path: self.store.path) }
        return state
    }

    func load() throws(PushAgentError) {
        self.store.adopt(try self.stateOnFile())
        let token = self.current?.token
        self.opened.withLock { opened in
            // Keep the session if its token is unchanged: two sessions would use one refresh token twice.
            if opened?.current != token { opened = nil }
        }
    }

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

    func forget() {
        self.store.forget()
        let session = self.makeSession(nil)
        self.opened.withLock { $0 = session }
    }

    /// Returns the endpoint on file until it expires, or longer while the cloud's `Retry-After` lasts or the cloud
    /// fails. With `refreshing`, or after a change of the installation's members, returns only the cloud's answer.
    func endpoint(refreshing: Bool = false) async throws -> MQTTEndpoint {
        let kept = refreshing || self.wantsOtherMembers ? nil : self.current?.endpoint
        if let kept, self.endpointTimeLeft ?? .seconds(1) > .zero || self.endpointPause > .zero { return kept }
        do {
            return try await self.fetchEndpoint()
        } catch let error as KiiError where error.errorCode == KiiErrorCode.installationNotFound {
            // Somebody deleted the installation. POST is an upsert, so the retry makes at most one installation.
            try await self.store.update { $0.leaveInstallation() }
            return try await self.fetchEndpoint()
        } catch {
            let failure = TemporaryFailure(error)
            guard failure != nil || self.isAccessRefusal(error) || self.isFromIntermediary(error) else { throw error }
            if let retryAfter = failure?.retryAfter {
                // The random share keeps clients with the same `Retry-After` from returning together.
                let pause = retryAfter + retryAfter / 10 * Double.random(in: 0...1)
                self.quietUntil.withLock { $0 = .now() + pause }
            }
            // The broker is another server than the cloud, and may accept the endpoint on file.
            guard let kept else { throw error }
            return kept
        }
    }

    /// The rest of the cloud's last `Retry-After`; zero if the agent may ask now.
    var endpointPause: Duration { max(.zero, self.quietUntil.withLock { $0 } - .now()) }

    /// The time until the endpoint expires; negative after that, `nil` if the cloud gave no time to live.
    ///
    /// - Source: `X-MQTT-TTL`, after which Kii's reference says to ask for a new endpoint
    var endpointTimeLeft: Duration? {
        guard let end = self.current?.endpointExpiresAt else { return nil }
        let (left, overflow) = end.millisecondsSinceEpoch.subtractingReportingOverflow(
            self.client.now().millisecondsSinceEpoch)
        return overflow ? .zero : .milliseconds(left)
    }

    /// Notes that the broker has the agent's session. Runs on the loop's thread, because writing blocks.
    ///
    /// If the write fails, the agent may not notice a later loss of the session, or may handle repeated messages as
    /// new ones in its next run.
    func sessionOpened(withInboxFile: Bool, usesWebSocket: Bool) {
        self.store.updateOnLoop { state in
            state.hasSession = true
            state.lostSession = false
            state.usesInboxFile = withInboxFile
            state.usesWebSocket = usesWebSocket
        }
    }

    func retainedMessage(withInboxFile: Bool, ledger: @escaping () -> MessageLedger) -> RetainedMessage {
        guard withInboxFile else { return RetainedMessage() }
        return RetainedMessage(note: self.current?.retained, ledger: ledger) { [store = self.store] note in
            store.updateOnLoop { $0.retained = note }
        }
    }

    /// Notes that the inbox is now in memory. Call this method before CONNECT.
    func leavesInboxFile() async throws { try await self.store.update { $0.usesInboxFile = false } }

    func authorized<Result>(_ body: (KiiSession) async throws -> Result) async throws -> Result {
        do {
            return try await body(self.session())
        } catch let refusal as KiiError
            where refusal.refusesToken && self.account == .pseudoUser && !self.isFromIntermediary(refusal)
        {
            throw PushAgentError.pseudoUserLost(refusal)
        }
    }

    /// Whether the cloud refuses the agent's credentials. If the account can sign in again, the agent has already tried
    /// a new token, and the cloud refuses only the failed call.
    func refusesCredentials(_ error: any Error) -> Bool {
        switch error {
        case PushAgentError.signInRefused, PushAgentError.pseudoUserLost: true
        case let refusal as KiiError:
            refusal.refusesToken && !self.account.canSignInAgain && !self.isFromIntermediary(refusal)
        default: false
        }
    }

    /// The failure to report, if the agent should ask again; otherwise `nil`.
    ///
    /// The cloud, or a firewall, may refuse a token by mistake. So the agent asks again until the cloud has refused
    /// `refusalsBeforeGivingUp` times in a row. Each call with such a refusal counts.
    func temporaryFailure(_ error: any Error) -> TemporaryFailure? {
        if let failure = TemporaryFailure(error) { return failure }
        if self.isFromIntermediary(error) { return TemporaryFailure(reason: "\(error)") }
        guard self.isAccessRefusal(error) else { return nil }
        let count = self.refusals.withLock { count in
            count += 1
            return count
        }
        return count < self.refusalsBeforeGivingUp ? TemporaryFailure(reason: "\(error)") : nil
    }

    /// Whether the cloud refused the call (401 or 403), perhaps by mistake. The agent never retries a refused password.
    func isAccessRefusal(_ error: any Error) -> Bool {
        switch error {
        case PushAgentError.pseudoUserLost: true
        case let refusal as KiiError: refusal.status == 401 || refusal.status == 403
        default: false
        }
    }

    /// Whether something other than the cloud, such as a proxy, may have answered: the answer has none of Kii's error
    /// codes. Always false before the first registration, because the configured address may be wrong.
    private func isFromIntermediary(_ error: any Error) -> Bool {
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
            // A session belongs to a topic, so the old session is of no more use.
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
            // The token must be on file before the cloud makes an installation.
            _ = try await session.token()
            try self.store.requireFile()
            return try await session.createInstallation(
                isDevelopment: self.configuration.isDevelopment, members: members ?? [:])
        }
        try await self.store.update { state in
            // Keep the former installation's ID: the inbox may hold its messages.
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
                // Another process with the same state file may have obtained the next token.
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
