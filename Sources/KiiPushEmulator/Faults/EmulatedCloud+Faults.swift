package import KiiPushCore

/// An action of a fault script, for ``FaultPlayer`` to carry out.
package struct FaultTask: Sendable {
    package var place: FaultScriptRun.Place
    package var deed: FaultStep.Deed
    /// `nil` for all installations.
    package var installation: String?
    package var clients: [BrokerCredential]
}

package enum FaultNews: Sendable {
    /// The topics of messages that the broker has accepted.
    case published([String])
    case began(FaultScriptRun.Place)
    case ended(FaultScriptRun.Place, problem: String?)
    case look
}

extension EmulatedCloud {
    private static let maximumFaults = 1000

    func showFaults(_ call: CloudCall) -> HTTPResponse {
        .json(200, nil, .object([("faults", JSONValue(self.faults.map { $0.json }))] + self.faultSteps))
    }

    func addFault(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let body = try ControlBody(call)
        guard body["script"] == nil else { return try self.play(body, now: call.now) }
        guard self.faults.count < EmulatedCloud.maximumFaults else {
            throw .invalidInput("There are \(EmulatedCloud.maximumFaults) faults; remove them first.")
        }
        let fault = try Fault(body, id: self.identifiers.unique())
        self.faults.append(fault)
        return .json(201, nil, fault.json)
    }

    func deleteFaults(_ call: CloudCall) { self.removeFaults() }

    func removeFaults() {
        self.faults = []
        self.script.end()
    }

    func takeFault(_ call: CloudCall) -> Fault? {
        let (method, path) = (call.request.meantMethod, call.target.path)
        var fault: Fault?
        if let index = self.faults.firstIndex(where: { $0.requests.meets(method: method, path: path) }) {
            self.faults[index].times -= 1
            fault = self.faults[index].times == 0 ? self.faults.remove(at: index) : self.faults[index]
        }
        let answer = self.script.requestCame(method: method, path: path, isMet: fault != nil, now: call.now)
        return fault ?? answer.map { Fault($0) }
    }

    private func play(_ body: ControlBody, now: Timestamp) throws(KiiFailure) -> HTTPResponse {
        try body.object(["script"])
        let text = try body["script"]?.nonEmptyText() ?? ""
        let script: FaultScript
        do throws(FaultScriptError) {
            script = try FaultScript(parsing: text)
        } catch {
            throw body.failure("is wrong in \(error)", at: "script")
        }
        if !self.settings.hasFaultProxy, let step = script.steps.first(where: { $0.deed?.0.needsProxy ?? false }) {
            throw .faultProxyMissing(step)
        }
        self.script.play(script, now: now)
        return .json(201, nil, .object(self.faultSteps))
    }

    // MARK: - For FaultPlayer

    /// Returns the action to carry out now (each action once), the number of the script, and the time at which the
    /// script next changes by itself.
    package func advanceFaults(
        _ news: [FaultNews], now: Timestamp
    ) -> (task: FaultTask?, script: Int, due: Timestamp?) {
        for item in news {
            switch item {
            case .published(let topics):
                for topic in topics {
                    let username = String(topic.dropFirst(BrokerFiles.topicPrefix.count))
                    guard let record = self.state.installation(username: username) else { continue }
                    self.script.messageTaken(for: record.id, now: now)
                }
            case .began(let place): self.script.began(place)
            case .ended(let place, let problem):
                self.script.ended(place, problem: problem ?? self.faultProblem, now: now)
            case .look: break
            }
        }
        let task = self.script.takeDeed(now: now).map { deed, installation in
            var clients = self.clients(of: installation)
            // An offline client has no connection to drop. Offline clients are affected only if the step names the
            // installation, or if the step loses sessions.
            let needsConnection = deed == .dropConnection || installation == nil && deed != .loseSession
            if needsConnection, let statuses = self.presence() {
                clients.removeAll { !(statuses[$0.username]?.isOnline ?? false) }
            }
            return FaultTask(place: self.script.place, deed: deed, installation: installation, clients: clients)
        }
        return (task, self.script.place.script, self.script.due)
    }

    private func clients(of installation: String?) -> [BrokerCredential] {
        guard let installation else { return self.state.installations.values.compactMap { $0.credential } }
        return self.state.installations[installation]?.credential.map { [$0] } ?? []
    }

    /// Set if the current step has no effect because the proxy cannot read packets inside TLS.
    private var faultProblem: String? {
        guard let (deed, installation) = self.script.deed, deed.needsProxy, let statuses = self.presence() else {
            return nil
        }
        let online = self.clients(of: installation).map(\.username).filter { statuses[$0]?.isOnline ?? false }
        guard !online.isEmpty, self.proxiedUsernames().isDisjoint(with: online) else { return nil }
        let who = installation.map { "installation \($0) is" } ?? "all clients are"
        return "\(who) connected over TLS, which the proxy cannot read; connect to `portTCP` of the endpoint, as an "
            + "agent does with `usesTLS = false`, or to `portWS` or `portWSS`"
    }

    private var faultSteps: JSONMembers {
        let problem = self.faultProblem
        let steps = self.script.steps.enumerated().map { index, step in
            JSONValue.object(present: [
                "line": step.line, "text": step.text, "state": self.script.state(of: index).rawValue,
                "problem": self.script.problem(of: index) ?? (index == self.script.place.step ? problem : nil),
            ])
        }
        return [("steps", JSONValue(steps))]
    }
}
