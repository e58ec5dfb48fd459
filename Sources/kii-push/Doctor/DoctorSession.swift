import KiiPushCommandLine
import KiiPushCore

struct DoctorSession: Sendable {
    let profile: Profile
    let cloud: CloudSettings
    let runtime: PushRuntime
    let limit: Duration
    let agent: PushAgent?
    /// The same agent over WebSocket, for a network that blocks the port of MQTT over TLS.
    private let webSocketAgent: PushAgent?
    let client: KiiClient
    let transport: DatedTransport

    init(profile: Profile, cloud: CloudSettings, limit: Duration) throws {
        var settings = cloud.runtimeConfiguration(stateDirectory: profile.directory)
        settings.callTimeout = limit
        settings.environment.connectTimeout = limit
        settings.shutdownGrace = .zero
        let runtime = try PushRuntime(configuration: settings)
        (self.profile, self.cloud) = (profile, cloud)
        (self.runtime, self.limit) = (runtime, limit)
        self.agent = profile.callingAgent(in: runtime, at: cloud)
        self.webSocketAgent = profile.callingAgent(in: runtime, at: cloud, over: .webSocket)
        self.transport = DatedTransport(runtime.loop)
        self.client = KiiClient(app: cloud.app, transport: self.transport, timeout: limit, retry: .none)
    }

    func examine(_ examination: inout Examination, sendsPush: Bool) async throws {
        try await self.examineCloud(&examination)
        var (finding, endpoint): (Finding, MQTTEndpoint?) = (.unknown(""), nil)
        if examination.isClear([Check.Key(.signIn)]) {
            do {
                (finding, endpoint) =
                    try await examination.inTime { try await self.installation() } ?? (examination.timeoutFinding, nil)
            } catch {
                finding = .failed(error)
            }
        }
        try examination.note(Check.Key(.installation), after: [Check.Key(.signIn)], finding)
        // If the cloud names no broker, the last known broker is checked.
        let named = endpoint.map { ($0.host, $0.portSSL, $0.portWSS) }
        let known = self.profile.registration.map { ($0.host, $0.portSSL, UInt16?.none) }
        var needsWebSocket = false
        if let (host, port, webSocketPort) = named ?? known {
            needsWebSocket = try await self.examineBroker(
                &examination, host: host, port: port, webSocketPort: webSocketPort)
        }
        let agent = needsWebSocket ? self.webSocketAgent : self.agent
        try await self.examinePush(&examination, agent, sendsPush: sendsPush)
    }

    private func examineCloud(_ examination: inout Examination) async throws {
        guard let server = self.cloud.app.origin else {
            let finding = Finding.failed(
                "\(self.cloud.app.baseURL) is no address of a cloud", fix: "check --base-url, or \"baseURL\"",
                exit: .configuration)
            return try examination.note(Check.Key(.dns, .cloud), finding)
        }
        let usesTLS = server.usesTLS
        let found =
            try await examination.inTime(steps: 2) {
                await self.finding(server.port) {
                    try await $0.inspect(host: server.host, port: $1, usesTLS: usesTLS)
                }
            }
        try self.checks(
            .cloud, host: server.host, port: server.port, usesTLS: usesTLS, (found ?? nil) ?? (nil, Self.late)
        )
        .note(in: &examination)
        let way = [Check.Key(.tcp, .cloud), Check.Key(self.cloud.isInsecure ? .tlsExpiry : .tlsName, .cloud)]
        let app = examination.isClear(way) ? await examination.finding { try await self.app() } : .unknown("")
        try examination.note(Check.Key(.clock), after: way, await self.clock())
        try examination.note(Check.Key(.app), after: way, app)
        try await examination.check(Check.Key(.signIn), after: [Check.Key(.app)]) { try await self.signIn() }
    }

    /// Tries both ports of the broker. Returns whether to use WebSocket: allowed and working, while the other port is
    /// missing or seems blocked.
    private func examineBroker(
        _ examination: inout Examination, host: String, port: UInt16?, webSocketPort: UInt16?
    ) async throws -> Bool {
        let late: PushRuntime.Finding = (nil, Self.late)
        let found = try await examination.inTime(steps: 3) { () -> (PushRuntime.Finding?, PushRuntime.Finding?) in
            async let webSocket = self.finding(webSocketPort) { try await $0.inspectWebSocket(host: host, port: $1) }
            let plain = await self.finding(port) { try await $0.inspect(host: host, port: $1, usesTLS: true) }
            return (plain, await webSocket)
        }
        let (plain, webSocket) = found ?? (port.map { _ in late }, webSocketPort.map { _ in late })
        var needsWebSocket = false
        if plain?.failure.isSwallowed ?? true, self.cloud.transport != .tcp, let webSocket, webSocket.failure == nil,
            let webSocketPort
        {
            needsWebSocket = true
            var checks = self.checks(.broker, host: host, port: webSocketPort, usesTLS: true, webSocket)
            checks.swallowedPort = port
            try checks.note(in: &examination)
        } else if let port, let plain {
            try self.checks(.broker, host: host, port: port, usesTLS: true, plain).note(in: &examination)
        } else {
            let finding = Finding.failed(
                "the cloud names no port for MQTT over TLS", fix: "have the broker offer one", exit: .protocolError)
            try examination.note(Check.Key(.tcp, .broker), finding)
        }
        let isNeeded = self.cloud.transport == .webSocket || plain.map { $0.failure != nil } ?? true
        let finding = self.finding(of: webSocket, "\(host):\(webSocketPort ?? 0)", isNeeded: isNeeded)
        try examination.note(Check.Key(.webSocket, .broker), finding)
        return needsWebSocket
    }

    private func finding(of webSocket: PushRuntime.Finding?, _ place: String, isNeeded: Bool) -> Finding {
        guard let webSocket else {
            guard self.cloud.transport == .webSocket else { return .needless("the broker offers none") }
            return .failed("the broker offers none", fix: "choose another --transport", exit: .configuration)
        }
        guard let failure = webSocket.failure else { return .ok("at \(place)") }
        guard isNeeded else {
            return .warning(
                failure.detail, fix: "nothing, as long as TCP gets through; else see what stands before \(place)")
        }
        return .unreachable(failure.detail, fix: "see what stands before \(place): a firewall, or a proxy")
    }

    private static let late = TransportError(.timedOut, detail: "no connection came about in time")

    private func finding(
        _ port: UInt16?, _ inspect: @Sendable (PushRuntime, UInt16) async throws -> PushRuntime.Finding
    ) async -> PushRuntime.Finding? {
        guard let port else { return nil }
        do {
            return try await inspect(self.runtime, port)
        } catch {
            return (nil, error as? TransportError ?? Self.late)
        }
    }

    private func checks(
        _ server: Check.Server, host: String, port: UInt16, usesTLS: Bool, _ found: PushRuntime.Finding
    ) -> NetworkChecks {
        NetworkChecks(
            server: server, host: host, port: port, usesTLS: usesTLS, usesProxy: self.cloud.proxy != nil,
            isInsecure: self.cloud.isInsecure, report: found.report, failure: found.failure, now: .now())
    }

    private func examinePush(_ examination: inout Examination, _ agent: PushAgent?, sendsPush: Bool) async throws {
        let keys = [Check.Key(.connack), Check.Key(.suback), Check.Key(.roundTrip)]
        let needs = [
            Check.Key(.stateDirectory), Check.Key(.inbox), Check.Key(.installation), Check.Key(.tcp, .broker),
            Check.Key(.tlsChain, .broker), Check.Key(.tlsName, .broker),
        ]
        var findings = BrokerFindings(connack: .unknown(""))
        if examination.isClear(needs), let agent, let registration = self.profile.registration {
            findings =
                try await examination.inTime(steps: 2) {
                    await self.brokerFindings(agent, registration, sendsPush: sendsPush)
                } ?? BrokerFindings(connack: examination.timeoutFinding)
        }
        try examination.note(keys[0], after: needs, findings.connack)
        try examination.note(keys[1], after: [keys[0]], findings.suback)
        try examination.note(keys[2], after: [keys[0], keys[1]], findings.roundTrip)
    }
}

extension TransportError? {
    /// Whether a firewall may be the cause of the error.
    fileprivate var isSwallowed: Bool {
        switch self?.code {
        case .timedOut, .connectionRefused, .connectionLost: true
        default: false
        }
    }
}
