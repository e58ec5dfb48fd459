import KiiPushCommandLine
import KiiPushCore

/// The checks of a profile that could be read, from the network to the push.
struct DoctorSession: Sendable {
    let profile: Profile
    let cloud: CloudSettings
    let runtime: PushRuntime
    let limit: Duration
    let agent: PushAgent?
    let client: KiiClient
    let transport: DatedTransport

    /// - Parameter limit: the time limit of one check.
    /// - Throws: an error in the configuration, such as a missing file of authorities.
    init(profile: Profile, cloud: CloudSettings, limit: Duration) throws {
        var settings = cloud.runtimeConfiguration(stateDirectory: profile.directory)
        settings.callTimeout = limit
        settings.environment.connectTimeout = limit
        settings.shutdownGrace = .zero
        let runtime = try PushRuntime(configuration: settings)
        (self.profile, self.cloud) = (profile, cloud)
        (self.runtime, self.limit) = (runtime, limit)
        self.agent = profile.saved.map { saved in
            PushAgent(
                runtime: runtime, configuration: profile.agentConfiguration(saved.account, app: cloud.app),
                handler: NoHandler())
        }
        self.transport = DatedTransport(runtime.loop)
        self.client = KiiClient(app: cloud.app, transport: self.transport, timeout: limit, retry: .none)
    }

    func examine(_ examination: inout Examination, sendsPush: Bool) async throws {
        try await self.examineCloud(&examination)
        var (finding, endpoint): (Finding, MQTTEndpoint?) = (.unknown(""), nil)
        if examination.isClear([Check.Key(.signIn)]) {
            do {
                (finding, endpoint) =
                    try await examination.inTime { try await self.installation() } ?? (examination.outOfTime, nil)
            } catch {
                finding = .failed(error)
            }
        }
        try examination.note(Check.Key(.installation), after: [Check.Key(.signIn)], finding)
        // If the cloud names no broker, the last known one is checked.
        let named = endpoint.map { ($0.host, $0.portSSL) }
        let known = self.profile.registration.map { ($0.host, $0.portSSL) }
        if let (host, port) = named ?? known { try await self.examineBroker(&examination, host: host, port: port) }
        try await self.examinePush(&examination, sendsPush: sendsPush)
    }

    private func examineCloud(_ examination: inout Examination) async throws {
        guard let server = self.cloud.app.origin else {
            let finding = Finding.failed(
                "\(self.cloud.app.baseURL) is no address of a cloud", fix: "check --base-url, or \"baseURL\"",
                exit: .configuration)
            return try examination.note(Check.Key(.dns, .cloud), finding)
        }
        try await self.connect(&examination, .cloud, host: server.host, port: server.port, usesTLS: server.usesTLS)
        let way = [Check.Key(.tcp, .cloud), Check.Key(self.cloud.isInsecure ? .tlsExpiry : .tlsName, .cloud)]
        let app = examination.isClear(way) ? await examination.finding { try await self.app() } : .unknown("")
        // Its answer names the date.
        try examination.note(Check.Key(.clock), after: way, await self.clock())
        try examination.note(Check.Key(.app), after: way, app)
        try await examination.check(Check.Key(.signIn), after: [Check.Key(.app)]) { try await self.signIn() }
    }

    private func examineBroker(_ examination: inout Examination, host: String, port: UInt16?) async throws {
        guard let port else {
            let finding = Finding.failed(
                "the cloud names no port for MQTT over TLS", fix: "have the broker offer one", exit: .protocolError)
            return try examination.note(Check.Key(.tcp, .broker), finding)
        }
        try await self.connect(&examination, .broker, host: host, port: port, usesTLS: true)
    }

    private func connect(
        _ examination: inout Examination, _ server: Check.Server, host: String, port: UInt16, usesTLS: Bool
    ) async throws {
        let late = TransportError(.timedOut, detail: "no connection came about in time")
        var (report, failure): (PushRuntime.Inspection?, TransportError?) = (nil, late)
        do {
            let found = try await examination.inTime(steps: 2) {
                try await self.runtime.inspect(host: host, port: port, usesTLS: usesTLS)
            }
            if let found { (report, failure) = (found.report, found.failure) }
        } catch {
            failure = error as? TransportError ?? late
        }
        try NetworkChecks(
            server: server, host: host, port: port, usesTLS: usesTLS, usesProxy: self.cloud.proxy != nil,
            isInsecure: self.cloud.isInsecure, report: report, failure: failure, now: .now()
        ).note(in: &examination)
    }

    private func examinePush(_ examination: inout Examination, sendsPush: Bool) async throws {
        let keys = [Check.Key(.connack), Check.Key(.suback), Check.Key(.roundTrip)]
        let needs = [
            Check.Key(.stateDirectory), Check.Key(.inbox), Check.Key(.installation), Check.Key(.tcp, .broker),
            Check.Key(.tlsChain, .broker), Check.Key(.tlsName, .broker),
        ]
        var findings = BrokerFindings(connack: .unknown(""))
        if examination.isClear(needs), let agent = self.agent, let registration = self.profile.registration {
            findings =
                try await examination.inTime(steps: 2) {
                    await self.brokerFindings(agent, registration, sendsPush: sendsPush)
                } ?? BrokerFindings(connack: examination.outOfTime)
        }
        try examination.note(keys[0], after: needs, findings.connack)
        try examination.note(keys[1], after: [keys[0]], findings.suback)
        try examination.note(keys[2], after: [keys[0], keys[1]], findings.roundTrip)
    }
}
