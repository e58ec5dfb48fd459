package import KiiPushCore

/// The cloud as a value: state and a request in, an answer and its effects out. No clock, no socket, no file.
package struct EmulatedCloud: Sendable {
    /// What is fixed while the emulator runs.
    package struct Settings: Sendable {
        package var app: AppIdentity
        /// Where the broker listens, for the endpoints that are handed out.
        package var brokerHost: String
        package var brokerPorts: BrokerPorts
        /// How long after an installation's creation its endpoint is "not ready" (503).
        package var endpointDelay: Duration
        /// Refuse what Kii's cloud lets pass: wrong app keys beside valid tokens, wrong second parts of Basic.
        package var isStrict: Bool
        /// `http://127.0.0.1:{port}/api`, for `Location`.
        package var baseURL: String

        package init(
            app: AppIdentity,
            brokerHost: String = "127.0.0.1",
            brokerPorts: BrokerPorts,
            endpointDelay: Duration = .zero,
            isStrict: Bool = false,
            baseURL: String
        ) {
            self.app = app
            self.brokerHost = brokerHost
            self.brokerPorts = brokerPorts
            self.endpointDelay = endpointDelay
            self.isStrict = isStrict
            self.baseURL = baseURL
        }
    }

    /// What an answer depends on or brings about outside of the state.
    package struct Effects: Sendable, Equatable {
        /// To be committed before anything else.
        package var changes: [StateChange] = []
        /// To be acknowledged by the broker before the answer is given.
        package var publications: [Publication] = []
        /// To be accepted by the broker before the answer is given.
        package var grants: [BrokerCredential] = []
        /// User names that the broker is to forget.
        package var revocations: [String] = []

        package init() {}
    }

    /// What became of a request.
    package struct Reply: Sendable {
        package var response: HTTPResponse
        package var effects: Effects
    }

    let settings: Settings
    package internal(set) var state: CloudState
    var identifiers: Identifiers
    /// Gathered by the handlers of the request in hand.
    var effects = Effects()

    package init(settings: Settings, state: CloudState = CloudState(), identifiers: Identifiers = Identifiers()) {
        self.settings = settings
        self.state = state
        self.identifiers = identifiers
    }

    var appID: String { self.settings.app.appID }

    /// Answers `request` at `now`.
    ///
    /// Handlers check everything before they change anything, so a refused request leaves the state alone.
    package mutating func respond(to request: IncomingRequest, now: Timestamp) -> Reply {
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
package struct Publication: Sendable, Equatable {
    package var topic: String
    package var payload: [UInt8]

    package init(topic: String, payload: [UInt8]) {
        self.topic = topic
        self.payload = payload
    }
}
