import KiiPushCore

/// The checks that connect to the broker as the profile: one connection for all of them.
struct BrokerChecks: Sendable {
    let profile: Profile
    let registration: Registration
    let runtime: PushRuntime
    let agent: PushAgent
    /// The app's administrator, who may send to users.
    let admin: KiiSession?
    let sendsPush: Bool
    /// How long a push may take.
    let limit: Duration

    struct Findings: Sendable {
        var connack: Finding
        var suback = Finding.unknown("")
        var roundTrip = Finding.unknown("")
    }

    func findings() async -> Findings {
        var subscribed = Findings(connack: .ok("accepted"))
        do {
            let answer = try await self.agent.probeBroker { connection in
                subscribed.suback = Self.granted(connection)
                subscribed.roundTrip = await self.roundTrip()
            }
            switch answer {
            case .subscribed: return subscribed
            case .refused(let reason, let isOfCredentials):
                return Findings(
                    connack: .failed(
                        reason,
                        fix: isOfCredentials
                            ? "the cloud has just named these credentials: ask who runs the broker"
                            : "see the broker's log",
                        exit: isOfCredentials ? .authentication : .protocolError))
            case .notSubscribed(let reason):
                let fix = "see the broker's rights for the topic, or \(self.profile.registerHint) --anew"
                return Findings(
                    connack: .ok("accepted"), suback: .failed(reason, fix: fix, exit: .protocolError))
            case .failed(let error): return Findings(connack: .failed(error))
            }
        } catch PushAgentError.stateDirectoryInUse(_, let processID), PushAgentError.installationInUse(_, let processID)
        {
            let holder = processID.map { "process \($0)" } ?? "another process"
            return Findings(
                connack: .unknown(
                    "\(holder) receives as this profile, and a second connection would knock it off"))
        } catch {
            return Findings(connack: .failed(error))
        }
    }

    private static func granted(_ connection: PushEvent.Connection) -> Finding {
        let session = connection.sessionPresent ? "the session of before is there" : "a new session"
        guard connection.guarantee == .atMostOnce else { return .ok("QoS 1; \(session)") }
        return .warning(
            "QoS 0 was granted, QoS 1 was asked for; \(session)",
            fix: "what the network drops is lost: use a broker that grants QoS 1 if that matters")
    }

    private func roundTrip() async -> Finding {
        guard self.sendsPush else { return .needless("not asked for: --round-trip") }
        let mark = "doctor-\(String(UInt64.random(in: .min ... .max), radix: 36))"
        do {
            guard let send = try await self.sender(of: mark) else {
                return .needless("a thing gets no direct push, and it is subscribed to no topic of its own scope")
            }
            let started = ContinuousClock.now
            guard try await self.arrives(mark, send) else {
                return .failed(
                    "the cloud took a push to this profile, and within \(self.limit.text) it did not arrive",
                    fix: "see that the cloud publishes to this broker, and the broker's log", exit: .protocolError)
            }
            return .ok("a push to this profile arrived after \((ContinuousClock.now - started).text)")
        } catch let error as KiiError where self.admin == nil && [401, 403].contains(error.status) {
            return .needless("only the app's admin may send to users: give clientID and clientSecret")
        } catch {
            return .failed(error)
        }
    }

    private func arrives(_ mark: String, _ send: @escaping @Sendable () async throws -> Void) async throws -> Bool {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask { try await self.runtime.takeMessage(containing: mark, afterSending: send) }
            group.addTask {
                try? await Task.sleep(for: self.limit)
                return false
            }
            let first = try await group.next() ?? false
            group.cancelAll()
            return first
        }
    }

    /// What sends the test message to nobody but this profile; `nil` when there is no way.
    private func sender(of mark: String) async throws -> (@Sendable () async throws -> Void)? {
        var message = PushMessage(data: ["kii-push": JSONValue(mark)])
        if self.registration.payload == .apns {
            message.apns = PushMessage.APNS()
            message.apns?.contentAvailable = true
        }
        let own = try CloudChecks.session(of: self.agent)
        switch self.registration.principal {
        case .user(let id):
            let sender = self.admin ?? own
            return { [message] in _ = try await sender.send(message, to: .user(id)) }
        case .thing(let id):
            for try await topic in own.topics(in: .thing(id))
            where try await own.isSubscribed(to: .topic(topic), as: self.registration.principal) {
                return { [message] in _ = try await own.send(message, to: .topic(topic)) }
            }
            return nil
        }
    }
}
