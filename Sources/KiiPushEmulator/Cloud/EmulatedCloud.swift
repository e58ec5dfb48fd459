import KiiPushCore

/// The cloud as a value: state and a request in, an answer and its effects out. No clock, no socket, no file.
struct EmulatedCloud: Sendable {
    /// What is fixed while the emulator runs.
    struct Settings: Sendable {
        var app: AppIdentity
        /// Where the broker listens, for the endpoints that are handed out.
        var brokerHost: String
        var brokerPorts: BrokerPorts
        /// How long after an installation's creation its endpoint is "not ready" (503).
        var endpointDelay: Duration
        /// Refuse what Kii's cloud lets pass: wrong app keys beside valid tokens, wrong second parts of Basic.
        var isStrict: Bool
        /// `http://127.0.0.1:{port}/api`, for `Location`.
        var baseURL: String
    }

    /// What an answer depends on or brings about outside of the state.
    struct Effects: Sendable, Equatable {
        /// To be committed before anything else.
        var changes: [StateChange] = []
        /// To be acknowledged by the broker before the answer is given.
        var publications: [Publication] = []
        /// To be accepted by the broker before the answer is given.
        var grants: [BrokerCredential] = []
        /// User names that the broker is to forget.
        var revocations: [String] = []
    }

    /// What became of a request.
    struct Reply: Sendable {
        var response: HTTPResponse
        var effects: Effects
    }

    let settings: Settings
    var state: CloudState
    var identifiers: Identifiers
    /// Gathered by the handlers of the request in hand.
    var effects = Effects()

    init(settings: Settings, state: CloudState = CloudState(), identifiers: Identifiers = Identifiers()) {
        self.settings = settings
        self.state = state
        self.identifiers = identifiers
    }

    var appID: String { self.settings.app.appID }

    /// Answers `request` at `now`.
    ///
    /// Handlers check everything before they change anything, so a refused request leaves the state alone.
    mutating func respond(to request: IncomingRequest, now: Timestamp) -> Reply {
        self.effects = Effects()
        let response: HTTPResponse
        do throws(KiiFailure) {
            response = try self.dispatch(request, now: now)
        } catch {
            response = error.response
            self.effects = Effects()
        }
        self.effects.changes = self.state.takeChanges()
        return Reply(response: response, effects: self.effects)
    }

    private mutating func dispatch(_ request: IncomingRequest, now: Timestamp) throws(KiiFailure) -> HTTPResponse {
        guard !request.isBodyTooLarge else { throw .bodyTooLarge(limit: HTTPServer.maximumBodyBytes) }
        let target = try RequestTarget(parsing: request.target)
        let (route, parameters) = try RouteTable.match(method: request.method, path: target.path, app: self.appID)
        var call = CloudCall(request: request, target: target, parameters: parameters, now: now)
        call.caller = try self.authenticate(call, need: route.need)
        return try route.handler(&self, call)
    }
}

/// One MQTT message to one installation.
struct Publication: Sendable, Equatable {
    var topic: String
    var payload: [UInt8]
}
