package import KiiPushCore

/// The emulated cloud: a request goes in, an answer and its effects come out. It uses no clock, socket or file.
package final class EmulatedCloud {
    package struct Settings: Sendable {
        package var app: AppIdentity
        package var brokerPorts: BrokerPorts
        package var isStrict: Bool
        /// `http://127.0.0.1:{port}/api`, for `Location`.
        package var baseURL: String
        /// `https://127.0.0.1:{port}/api`, for `Location` in answers to HTTPS requests.
        package var httpsBaseURL: String?
        /// The administrator's token for the emulator's page, valid until the emulator ends.
        package var pageToken: Secret?
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

    package struct Effects: Sendable, Equatable {
        package var changes: [StateChange] = []
        /// Messages that the broker has to acknowledge before the answer is sent.
        package var publications: [MQTTPublish] = []
        /// Clients that the broker has to accept before the answer is sent.
        package var grants: [BrokerCredential] = []
        package var revocations: [String] = []
        var messages: [LoggedMessage] = []
        /// Whether to forget messages, faults and counts too, once the changes are committed.
        var isReset = false
        package var delay: Duration = .zero

        package init() {}
    }

    package struct Reply: Sendable {
        /// `nil` if the request was not authenticated.
        var caller: Caller?
        /// `nil` closes the connection without an answer.
        package var response: HTTPResponse?
        package var effects: Effects
    }

    let settings: Settings
    package internal(set) var state: CloudState
    var app: AppSettings
    var faults: [Fault] = []
    var script = FaultScriptRun()
    var requestWindow = RequestWindow()
    package var presence: @Sendable () -> [String: BrokerConnections.Status]? = { nil }
    /// The user names of the connections whose packets the proxy can read.
    package var proxiedUsernames: @Sendable () -> Set<String> = { [] }
    var messages = RecentEntries<LoggedMessage>(maximumCount: 1000, maximumBytes: 16 << 20)
    var identifiers: Identifiers
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

    func location(_ path: String, _ call: CloudCall) -> HTTPField {
        let secureURL = call.request.isSecure ? self.settings.httpsBaseURL : nil
        return HTTPField("Location", "\(secureURL ?? self.settings.baseURL)/apps/\(self.appID)/\(path)")
    }

    /// Applies the effects in memory. Call this when the changes are on disk.
    package func commit(_ effects: Effects) {
        if effects.isReset {
            self.removeFaults()
            self.messages.removeAll()
            self.requestWindow = RequestWindow()
        }
        for message in effects.messages { self.messages.append(message) }
    }

    /// Handlers check everything before they change anything, so a refused request changes no stored data. Call
    /// ``commit(_:)`` when the changes are on disk.
    package func respond(to request: IncomingRequest, now: Timestamp) -> Reply {
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

    /// Faults, the request limit and a disabled app do not affect requests to `/__kii`, which configure them.
    private func admit(
        _ request: IncomingRequest, now: Timestamp, delay: inout Duration
    ) throws(KiiFailure) -> HTTPResponse? {
        guard !request.isBodyTooLarge else { throw .bodyTooLarge(limit: HTTPServer.maximumBodyBytes) }
        let call = CloudCall(request: request, target: try RequestTarget(parsing: request.target), now: now)
        guard !call.isControl else { return try self.dispatch(call) }
        let fault = self.takeFault(call)
        delay = fault?.delay ?? .zero
        guard let fault, fault.replacesAnswer else { return try self.execute(call) }
        if fault.isAfterwards {
            do throws(KiiFailure) {
                _ = try self.execute(call)
            } catch {
                self.effects = Effects()
            }
        }
        return fault.response
    }

    private func execute(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        if let limit = self.app.requestLimit { try self.requestWindow.count(limit, now: call.now) }
        if self.app.isDisabled { throw .appDisabled }
        return try self.dispatch(call)
    }

    private func dispatch(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        var call = call
        let route: Route
        (route, call.parameters) = try RouteTable.match(
            method: call.request.meantMethod, path: call.target.path, app: self.appID)
        call.caller = try self.authenticate(call, need: route.need)
        self.caller = call.caller
        if call.isControl { try route.checkQuery(call.target) }
        return try route.handler(self)(call)
    }
}
