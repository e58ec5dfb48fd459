import KiiPushCore

/// The checks of a profile that could be read, from the network to the push.
struct DoctorSession: Sendable {
    let profile: Profile
    let cloud: CloudSettings
    let runtime: PushRuntime
    let limit: Duration
    private let agent: PushAgent?
    private let checks: CloudChecks

    init(profile: Profile, cloud: CloudSettings, runtime: PushRuntime, limit: Duration) {
        self.profile = profile
        self.cloud = cloud
        self.runtime = runtime
        self.limit = limit
        let agent = profile.saved.map { saved in
            PushAgent(
                runtime: runtime, configuration: profile.agentConfiguration(saved.account, app: cloud.app),
                handler: NoHandler())
        }
        self.agent = agent
        self.checks = CloudChecks(profile: profile, cloud: cloud, runtime: runtime, agent: agent, limit: limit)
    }

    func examine(_ examination: inout Examination, sendsPush: Bool) async throws {
        try await self.examineCloud(&examination)
        let installation = Check.Key(.installation)
        var (finding, endpoint): (Finding, MQTTEndpoint?) = (.unknown(""), nil)
        if examination.isClear([Check.Key(.signIn)]) {
            let found = await examination.inTime { [checks] in
                do {
                    return try await checks.installation()
                } catch {
                    return (Finding.failed(error), nil)
                }
            }
            (finding, endpoint) = found ?? (examination.outOfTime, nil)
        }
        try examination.note(installation, after: [Check.Key(.signIn)], finding)
        // Where the cloud does not name the broker, the one that it named before is looked at.
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
        try await self.connect(
            &examination, .cloud, host: server.host, port: server.port, usesTLS: server.usesTLS)
        let isInsecure = self.cloud.isInsecure
        let way = [Check.Key(.tcp, .cloud), Check.Key(isInsecure ? .tlsExpiry : .tlsName, .cloud)]
        let app =
            examination.isClear(way)
            ? await examination.finding { [checks] in try await checks.app() } ?? examination.outOfTime : .unknown("")
        // Its answer names the date.
        try examination.note(Check.Key(.clock), after: way, await self.checks.clock())
        try examination.note(Check.Key(.app), after: way, app)
        try await examination.check(Check.Key(.signIn), after: [Check.Key(.app)]) { [checks] in
            try await checks.signIn()
        }
    }

    private func examineBroker(_ examination: inout Examination, host: String, port: UInt16?) async throws {
        guard let port else {
            return try examination.note(
                Check.Key(.tcp, .broker),
                .failed(
                    "the cloud names no port for MQTT over TLS", fix: "have the broker offer one", exit: .protocolError)
            )
        }
        try await self.connect(&examination, .broker, host: host, port: port, usesTLS: true)
    }

    private func connect(
        _ examination: inout Examination, _ server: Check.Server, host: String, port: UInt16, usesTLS: Bool
    ) async throws {
        let inspection = await examination.inTime(steps: 2) { [runtime] in
            await Result { try await runtime.inspect(host: host, port: port, usesTLS: usesTLS) }
        }
        let late = TransportError(.timedOut, detail: "no connection came about in time")
        var (report, failure): (PushRuntime.Inspection?, TransportError?) = (nil, late)
        switch inspection {
        case .success(let found)?: (report, failure) = (found.report, found.failure)
        case .failure(let error)?: failure = error as? TransportError ?? late
        case nil: break
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
        var findings = BrokerChecks.Findings(connack: .unknown(""))
        if examination.isClear(needs), let agent = self.agent, let registration = self.profile.registration {
            let checks = BrokerChecks(
                profile: self.profile, registration: registration, runtime: self.runtime, agent: agent,
                admin: self.cloud.admin?.session(self.checks.client), sendsPush: sendsPush,
                // Less than the limit, so that it is this one that is said to have passed.
                limit: self.limit * 9 / 10)
            findings =
                await examination.inTime(steps: 2) { await checks.findings() }
                ?? BrokerChecks.Findings(connack: examination.outOfTime)
        }
        try examination.note(keys[0], after: needs, findings.connack)
        try examination.note(keys[1], after: [keys[0]], findings.suback)
        try examination.note(keys[2], after: [keys[0], keys[1]], findings.roundTrip)
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}
