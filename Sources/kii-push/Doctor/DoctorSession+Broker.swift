import KiiPushCommandLine
import KiiPushCore

/// The checks that connect to the broker as the profile. All use one connection.
extension DoctorSession {
    struct BrokerFindings: Sendable {
        var connack: Finding
        var suback = Finding.unknown("")
        var roundTrip = Finding.unknown("")
    }

    func brokerFindings(_ agent: PushAgent, _ registration: Registration, sendsPush: Bool) async -> BrokerFindings {
        var subscribed = BrokerFindings(connack: .ok("accepted"))
        do {
            let answer = try await agent.probeBroker { connection in
                subscribed.suback = Self.granted(connection)
                subscribed.roundTrip =
                    sendsPush
                    ? await self.roundTrip(agent, registration) : .needless("not asked for: --round-trip")
            }
            switch answer {
            case .subscribed: return subscribed
            case .refused(let reason, let isOfCredentials):
                let fix =
                    isOfCredentials
                    ? "the cloud has just named these credentials: ask who runs the broker" : "see the broker's log"
                let exit: ExitStatus = isOfCredentials ? .authentication : .protocolError
                return BrokerFindings(connack: .failed(reason, fix: fix, exit: exit))
            case .notSubscribed(let reason):
                let fix = "see the broker's rights for the topic, or \(self.profile.registerHint) --anew"
                return BrokerFindings(connack: .ok("accepted"), suback: .failed(reason, fix: fix, exit: .protocolError))
            case .failed(let error): return BrokerFindings(connack: .failed(error))
            }
        } catch PushAgentError.stateDirectoryInUse(_, let processID), PushAgentError.installationInUse(_, let processID)
        {
            return await self.findings(of: processID.map { "process \($0)" } ?? "another process")
        } catch {
            return BrokerFindings(connack: .failed(error))
        }
    }

    /// Asks the process that receives as this profile about its connection. A connection of this command would end the
    /// connection of that process.
    private func findings(of holder: String) async -> BrokerFindings {
        let reason = "\(holder) receives as this profile, and a second connection would knock it off"
        let unknown = BrokerFindings(connack: .unknown(reason))
        guard let client = try? ControlClient(stateDirectory: self.profile.directory),
            let notices = try? client.watch()
        else { return unknown }
        for await notice in notices {
            switch notice {
            case .event(.connected(let connection)):
                return BrokerFindings(
                    connack: .ok("\(holder) receives as this profile, and is connected"),
                    suback: Self.granted(connection), roundTrip: .needless(reason))
            case .event(.disconnected(let cause, _)):
                return BrokerFindings(
                    connack: .unreachable(
                        "\(holder) receives as this profile, and is offline: \(cause)",
                        fix: "if the other checks of the broker are ok, it has other settings: restart it"))
            case .event(.stopping): return unknown
            default: continue
            }
        }
        return unknown
    }

    private static func granted(_ connection: PushEvent.Connection) -> Finding {
        let session = connection.sessionPresent ? "the session of before is there" : "a new session"
        guard connection.qualityOfService == 0 else { return .ok("QoS 1; \(session)") }
        return .warning(
            "QoS 0 was granted, QoS 1 was asked for; \(session)",
            fix: "what the network drops is lost: use a broker that grants QoS 1 if that matters")
    }

    private func roundTrip(_ agent: PushAgent, _ registration: Registration) async -> Finding {
        // Shorter than the check's limit, so that the missing push is reported and not the check's timeout.
        let limit = self.limit * 9 / 10
        let mark = "doctor-\(String(UInt64.random(in: .min ... .max), radix: 36))"
        do {
            guard let send = try await self.sender(of: mark, agent, registration) else {
                return .needless("a thing gets no direct push, and it is subscribed to no topic of its own scope")
            }
            let started = ContinuousClock.now
            let isThere = try await within(limit) {
                try await self.runtime.takeMessage(containing: mark, afterSending: send)
            }
            guard isThere == true else {
                return .failed(
                    "the cloud took a push to this profile, and within \(limit.text) it did not arrive",
                    fix: "see that the cloud publishes to this broker, and the broker's log", exit: .protocolError)
            }
            return .ok("a push to this profile arrived after \((ContinuousClock.now - started).text)")
        } catch let error as KiiError where self.cloud.admin == nil && [401, 403].contains(error.status) {
            return .needless("only the app's admin may send to users: give clientID and clientSecret")
        } catch {
            return .failed(error)
        }
    }

    private func sender(
        of mark: String, _ agent: PushAgent, _ registration: Registration
    ) async throws -> (@Sendable () async throws -> Void)? {
        var message = PushMessage(data: ["kii-push": JSONValue(mark)])
        if registration.payload == .apns {
            message.apns = PushMessage.APNS()
            message.apns?.contentAvailable = true
        }
        let own = try Self.session(of: agent)
        switch registration.principal {
        case .user(let id):
            let sender = self.cloud.admin?.session(self.client) ?? own
            return { [message] in _ = try await sender.send(message, to: .user(id)) }
        case .thing(let id):
            for try await topic in own.topics(in: .thing(id))
            where try await own.isSubscribed(to: .topic(topic), as: registration.principal) {
                return { [message] in _ = try await own.send(message, to: .topic(topic)) }
            }
            return nil
        }
    }
}
