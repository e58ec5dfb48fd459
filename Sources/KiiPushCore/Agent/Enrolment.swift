/// Makes an agent known to the cloud and keeps it so: token, installation, broker endpoint.
///
/// Every step is written down before the next is taken, so that a crash in between repeats a step at most and never
/// leaves a pseudo user behind that nobody has the token of.
final class Enrolment: Sendable {
    let client: KiiClient
    private let account: KiiAccount
    private let isDevelopment: Bool
    private let file: AgentStateFile
    private let loop: EventLoop
    private let state = Locked<AgentState?>(nil)

    init(client: KiiClient, account: KiiAccount, isDevelopment: Bool, file: AgentStateFile, loop: EventLoop) {
        self.client = client
        self.account = account
        self.isDevelopment = isDevelopment
        self.file = file
        self.loop = loop
    }

    /// What is on file, checked against the configuration; `nil` when nothing is.
    ///
    /// - Throws: ``PushAgentError/file(_:)``, ``PushAgentError/stateOfAnotherAccount(path:)``.
    @discardableResult
    func load() throws(PushAgentError) -> AgentState? {
        let loaded: AgentState?
        do throws(FileError) {
            loaded = try self.file.load()
        } catch {
            throw .file(error)
        }
        if let loaded, loaded.appID != self.client.app.appID || loaded.account != self.account.fingerprint {
            throw .stateOfAnotherAccount(path: self.file.path)
        }
        self.state.withLock { $0 = loaded }
        return loaded
    }

    /// A token that is good as far as anyone knows, by signing in or refreshing where there is none.
    func token() async throws -> AccessToken {
        guard let state = self.state.withLock({ $0 }) else { return try await self.signIn() }
        if state.token.isEnding(at: .now()) { return try await self.renew(state.token) }
        return state.token
    }

    /// The installation and its endpoint, from the file if it is there, else from the cloud.
    ///
    /// - Parameter refreshing: asks the cloud for the endpoint even if one is on file.
    func endpoint(refreshing: Bool = false) async throws -> MQTTEndpoint {
        if !refreshing, let endpoint = self.state.withLock({ $0?.endpoint }) { return endpoint }
        do {
            return try await self.fetchEndpoint()
        } catch let error as KiiError where error.errorCode == .installationNotFound {
            // Somebody deleted it; POST is an upsert, so this makes at most one.
            try await self.update { $0.leaveInstallation() }
            return try await self.fetchEndpoint()
        }
    }

    /// Begins anew: the next call signs in as if for the first time.
    func forget() async throws {
        self.state.withLock { $0 = nil }
    }

    /// Notes that the broker keeps a session from now on. On the loop's thread, since writing blocks.
    func sessionOpened() {
        let changed: AgentState? = self.state.withLock { state in
            guard var next = state, !next.hasSession else { return nil }
            next.hasSession = true
            state = next
            return next
        }
        guard let changed else { return }
        // If this fails, all that is missed is the report of a session that the broker loses later on.
        try? self.file.save(changed)
    }

    var current: AgentState? { self.state.withLock { $0 } }

    /// Makes a call with the token, and once more with a new one if the cloud refuses the old.
    func authorized<Result>(_ body: (AccessToken) async throws -> Result) async throws -> Result {
        let token = try await self.token()
        do {
            return try await body(token)
        } catch let error as KiiError where error.refusesCredentials {
            return try await body(try await self.renew(token, after: error))
        }
    }

    private func fetchEndpoint() async throws -> MQTTEndpoint {
        let installationID = try await self.installationID()
        let endpoint = try await self.authorized { token in
            try await self.client.mqttEndpoint(of: installationID, token: token.token, waiting: .endpoint)
        }
        try await self.update { state in
            // Another topic is another MQTT session.
            if state.endpoint?.mqttTopic != endpoint.mqttTopic { state.hasSession = false }
            state.endpoint = endpoint
        }
        return endpoint
    }

    private func installationID() async throws -> String {
        if let id = self.state.withLock({ $0?.installationID }) { return id }
        let installation = try await self.authorized { token in
            try await self.client.createInstallation(isDevelopment: self.isDevelopment, token: token.token)
        }
        try await self.update { $0.installationID = installation.id }
        return installation.id
    }
}

// MARK: - Signing in

extension Enrolment {
    private func signIn() async throws -> AccessToken {
        let token: AccessToken
        do {
            token = try await self.requestToken()
        } catch let error as KiiError where !error.isTransient {
            throw PushAgentError.signInRefused(error)
        }
        guard let principal = token.principal else {
            throw PushAgentError.signInRefused(
                KiiError(
                    operation: KiiOperation(method: .post, path: "/oauth2/token"), status: 200,
                    message: "the token belongs to no user or thing"))
        }
        let account = self.account.fingerprint
        let appID = self.client.app.appID
        self.state.withLock { state in
            var next = state ?? AgentState(appID: appID, account: account, principal: principal, token: token)
            if next.principal != principal {
                next = AgentState(appID: appID, account: account, principal: principal, token: token)
            }
            next.token = token
            state = next
        }
        try await self.save()
        return token
    }

    private func requestToken() async throws -> AccessToken {
        switch self.account {
        case .pseudoUser:
            return try await self.client.registerPseudoUser()
        case .user(let name, let password, let createsIfMissing):
            if createsIfMissing {
                do {
                    _ = try await self.client.registerUser(UserRegistration(loginName: name, password: password))
                } catch let error as KiiError where error.errorCode == .userAlreadyExists {}
            }
            return try await self.client.login(username: name, password: password)
        case .thing(let vendorThingID, let password, let type):
            do {
                let thing = try await self.client.registerThing(
                    ThingRegistration(vendorThingID: vendorThingID, password: password, thingType: type))
                if let token = thing.accessToken { return token }
            } catch let error as KiiError where error.errorCode == .thingAlreadyExists {}
            return try await self.client.login(vendorThingID: vendorThingID, password: password)
        }
    }

    /// The token after `old`: what another task has got meanwhile, or by the refresh token, or by signing in anew.
    private func renew(_ old: AccessToken, after refusal: KiiError? = nil) async throws -> AccessToken {
        if let current = self.state.withLock({ $0?.token }), current.token != old.token { return current }
        if old.refreshToken != nil {
            do {
                let token = try await self.client.refresh(old)
                try await self.update { $0.token = token }
                return token
            } catch let error as KiiError where error.refusesCredentials {
                // A refresh token works once. If another task used it, its token is here; if another process did, the
                // password still works.
                if let current = self.state.withLock({ $0?.token }), current.token != old.token { return current }
            }
        }
        if case .pseudoUser = self.account {
            // A pseudo user that is merely about to expire keeps its token to the end: it has nothing else.
            guard let refusal else { return old }
            throw PushAgentError.pseudoUserLost(refusal)
        }
        return try await self.signIn()
    }

    private func update(_ change: @Sendable (inout AgentState) -> Void) async throws {
        let isChanged = self.state.withLock { state in
            guard var next = state else { return false }
            change(&next)
            defer { state = next }
            return next != state
        }
        if isChanged { try await self.save() }
    }

    // On the loop's thread, since writing blocks. What is written is what holds then: of two changes the later one must
    // not be overwritten by the earlier, or a token that works once is lost.
    private func save() async throws {
        do {
            try await self.loop.run { [self] in
                if let state = self.current { try self.file.save(state) }
            }
        } catch let error as FileError {
            throw PushAgentError.file(error)
        }
    }
}
