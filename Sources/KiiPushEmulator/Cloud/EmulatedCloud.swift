package import KiiPushCore

/// The cloud as a value: state and a request in, an answer and its effects out. No clock, no socket, no file.
package struct EmulatedCloud: Sendable {
    /// What is fixed while the emulator runs.
    package struct Settings: Sendable {
        package var app: AppIdentity
        /// Where the broker listens, for the endpoints that are handed out.
        package var brokerPorts: BrokerPorts
        /// Refuse what Kii's cloud lets pass: app keys and secrets that are wrong where it does not look at them, keys in a
        /// message's data that it writes itself, and subscriptions to buckets that are not there.
        package var isStrict: Bool
        /// `http://127.0.0.1:{port}/api`, for `Location`.
        package var baseURL: String
        /// `https://127.0.0.1:{port}/api`, for `Location` in answers to requests that came by HTTPS.
        package var httpsBaseURL: String?
        /// What the emulator's page acts as the administrator with, until the emulator ends.
        package var pageToken: Secret?
        /// Whether a proxy stands before the broker, for what scripts do to packets.
        package var hasFaultProxy: Bool

        package init(
            app: AppIdentity, brokerPorts: BrokerPorts, isStrict: Bool = false, baseURL: String,
            httpsBaseURL: String? = nil, pageToken: Secret? = nil, hasFaultProxy: Bool = false
        ) {
            self.app = app
            self.brokerPorts = brokerPorts
            self.isStrict = isStrict
            self.baseURL = baseURL
            self.httpsBaseURL = httpsBaseURL
            self.pageToken = pageToken
            self.hasFaultProxy = hasFaultProxy
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
        /// To be logged once the changes are committed.
        var messages: [LoggedMessage] = []
        /// Whether everything is forgotten, also what is not stored, once the changes are committed.
        var isReset = false
        /// How long the answer is held back after all that; only a fault asks for it.
        package var delay: Duration = .zero

        package init() {}
    }

    /// What became of a request.
    package struct Reply: Sendable {
        /// Who made it; `nil` where that was not looked at, or refused.
        var caller: Caller?
        /// `nil` where the connection is closed without an answer; only a fault asks for it.
        package var response: HTTPResponse?
        package var effects: Effects
    }

    let settings: Settings
    package internal(set) var state: CloudState
    /// What may change while the emulator runs.
    var app: AppSettings
    /// What requests are made to fail with, in the order in which it was asked for.
    var faults: [Fault] = []
    /// The faults that happen in order.
    var script = FaultScriptRun()
    var requestWindow = RequestWindow()
    /// What is known of each user name that has connected to the broker; `nil` when that cannot be told.
    package var presence: @Sendable () -> [String: BrokerConnections.Status]? = { nil }
    /// The user names whose connections go through the proxy, and can be read.
    package var proxiedUsernames: @Sendable () -> Set<String> = { [] }
    /// What was sent lately, for whoever looks at the emulator.
    var messages = RecentEntries<LoggedMessage>(maximumCount: 1000, maximumBytes: 16 << 20)
    var identifiers: Identifiers
    /// Gathered by the handlers of the request in hand.
    var effects = Effects()
    private var caller: Caller?

    package init(
        settings: Settings, app: AppSettings = AppSettings(), state: CloudState = CloudState(),
        identifiers: Identifiers = Identifiers()
    ) {
        self.settings = settings
        self.app = app
        self.state = state
        self.identifiers = identifiers
    }

    var appID: String { self.settings.app.appID }

    /// The field that says where in the app the thing is that `call` made, by the way that the call came.
    func location(_ path: String, _ call: CloudCall) -> HTTPField {
        let secureURL = call.request.isSecure ? self.settings.httpsBaseURL : nil
        return HTTPField("Location", "\(secureURL ?? self.settings.baseURL)/apps/\(self.appID)/\(path)")
    }

    /// Does what follows from a request whose changes are on disk to what is kept in memory alone.
    package mutating func commit(_ effects: Effects) {
        if effects.isReset {
            self.removeFaults()
            self.messages.removeAll()
            self.requestWindow = RequestWindow()
        }
        for message in effects.messages { self.messages.append(message) }
    }

    /// Answers `request` at `now`. To be followed by ``commit(_:)`` when the changes are written.
    ///
    /// Handlers check everything before they change anything, so a refused request leaves the state alone.
    package mutating func respond(to request: IncomingRequest, now: Timestamp) -> Reply {
        (self.effects, self.caller) = (Effects(), nil)
        var delay = Duration.zero
        let response: HTTPResponse?
        do throws(KiiFailure) {
            response = try self.admit(request, now: now, delay: &delay)
        } catch {
            response = error.response
            self.effects = Effects()
        }
        self.effects.changes = self.state.takeChanges()
        self.effects.delay = delay
        return Reply(caller: self.caller, response: response, effects: self.effects)
    }

    /// Lets a request through to its handler, unless the app is switched off, asks too often, or meets a fault.
    ///
    /// The controls are always let through: what was switched off has to be switched on again.
    private mutating func admit(
        _ request: IncomingRequest, now: Timestamp, delay: inout Duration
    ) throws(KiiFailure) -> HTTPResponse? {
        guard !request.isBodyTooLarge else { throw .bodyTooLarge(limit: HTTPServer.maximumBodyBytes) }
        let call = CloudCall(request: request, target: try RequestTarget(parsing: request.target), now: now)
        guard !call.isControl else { return try self.dispatch(call) }
        let fault = self.takeFault(call)
        delay = fault?.delay ?? .zero
        guard let fault, let answer = fault.answer else { return try self.carryOut(call) }
        if fault.isAfterwards {
            do throws(KiiFailure) {
                _ = try self.carryOut(call)
            } catch {
                // A refusal is lost as any other answer; what was refused has no effects.
                self.effects = Effects()
            }
        }
        return answer.response
    }

    private mutating func carryOut(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        if let limit = self.app.requestLimit { try self.requestWindow.count(limit, now: call.now) }
        if self.app.isDisabled { throw .appDisabled }
        return try self.dispatch(call)
    }

    private mutating func dispatch(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        var call = call
        let route: Route
        (route, call.parameters) = try RouteTable.match(
            method: call.request.meantMethod, path: call.target.path, app: self.appID)
        call.caller = try self.authenticate(call, need: route.need)
        self.caller = call.caller
        if call.isControl { try route.checkQuery(call.target) }
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
