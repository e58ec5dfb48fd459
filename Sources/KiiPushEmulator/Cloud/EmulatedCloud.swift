package import KiiPushCore

/// The cloud as a value: state and a request in, an answer and its effects out. No clock, no socket, no file.
package struct EmulatedCloud: Sendable {
    /// Settings that stay while the emulator runs.
    package struct Settings: Sendable {
        package var app: AppIdentity
        /// The broker's ports in the endpoints that clients get.
        package var brokerPorts: BrokerPorts
        /// Whether the emulator is stricter than Kii's cloud. It then refuses wrong app keys and secrets where Kii does
        /// not check them. It also refuses data keys of a message that Kii itself writes, and subscriptions to missing
        /// buckets.
        package var isStrict: Bool
        /// `http://127.0.0.1:{port}/api`, for `Location`.
        package var baseURL: String
        /// `https://127.0.0.1:{port}/api`, for `Location` in answers to HTTPS requests.
        package var httpsBaseURL: String?
        /// The administrator's token for the emulator's page, valid until the emulator ends.
        package var pageToken: Secret?
        /// Whether a proxy stands in front of the broker, for scripted faults of packets.
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

    /// Everything that an answer waits for or causes outside of the state.
    package struct Effects: Sendable, Equatable {
        /// Changes to commit before any other effect.
        package var changes: [StateChange] = []
        /// Messages that the broker acknowledges before the answer goes out.
        package var publications: [Publication] = []
        /// Clients that the broker accepts before the answer goes out.
        package var grants: [BrokerCredential] = []
        /// User names for the broker to forget.
        package var revocations: [String] = []
        /// Messages to log once the changes are committed.
        var messages: [LoggedMessage] = []
        /// Whether to forget everything, stored or not, once the changes are committed.
        var isReset = false
        /// The delay of the answer after all other effects; only a fault sets it.
        package var delay: Duration = .zero

        package init() {}
    }

    package struct Reply: Sendable {
        /// `nil` if the request was not authenticated.
        var caller: Caller?
        /// `nil` closes the connection without an answer; only a fault does so.
        package var response: HTTPResponse?
        package var effects: Effects
    }

    let settings: Settings
    package internal(set) var state: CloudState
    /// Settings that may change while the emulator runs.
    var app: AppSettings
    var faults: [Fault] = []
    var script = FaultScriptRun()
    var requestWindow = RequestWindow()
    /// The status of each user name that has connected to the broker; `nil` when unknown.
    package var presence: @Sendable () -> [String: BrokerConnections.Status]? = { nil }
    /// The user names whose connections go through the proxy in readable form.
    package var proxiedUsernames: @Sendable () -> Set<String> = { [] }
    /// The latest messages, for people who inspect the emulator.
    var messages = RecentEntries<LoggedMessage>(maximumCount: 1000, maximumBytes: 16 << 20)
    var identifiers: Identifiers
    /// The effects of the current request; its handlers add to them.
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

    /// The field `Location` of a created resource: by HTTPS if the call came by HTTPS.
    func location(_ path: String, _ call: CloudCall) -> HTTPField {
        let secureURL = call.request.isSecure ? self.settings.httpsBaseURL : nil
        return HTTPField("Location", "\(secureURL ?? self.settings.baseURL)/apps/\(self.appID)/\(path)")
    }

    /// Applies the effects that live only in memory, after the changes are on disk.
    package mutating func commit(_ effects: Effects) {
        if effects.isReset {
            self.removeFaults()
            self.messages.removeAll()
            self.requestWindow = RequestWindow()
        }
        for message in effects.messages { self.messages.append(message) }
    }

    /// Answers `request` at `now`. Call ``commit(_:)`` when the changes are written.
    ///
    /// Handlers check everything before they change anything, so a refused request leaves the state as it was.
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

    /// Passes a request to its handler, unless the app is disabled, exceeds its request limit, or meets a fault.
    ///
    /// Controls always pass: otherwise nobody could enable a disabled app again.
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
                // A fault may lose a refusal like any other answer; a refused request has no effects.
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
