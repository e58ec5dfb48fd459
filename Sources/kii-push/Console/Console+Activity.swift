import KiiPushCore
import KiiPushEmulator

/// What happens at an emulator, one line each.
extension Console {
    /// - Parameter root: what the paths of the app begin with, which people need not read again.
    func show(_ activity: Activity, root: String) throws {
        switch activity.event {
        case .request(let request): try self.show(request, activity, root: root)
        case .connection(let connection):
            let word = connection.isOnline ? self.style("online", .green) : self.style("offline", .dim)
            try self.line(
                "\(activity.at.localClock) \(word) \(connection.owner), installation \(connection.installationID)")
            try self.object("activity") { line in
                line.add(activity, "connection")
                line.add("installation", connection.installationID)
                line.add("owner", connection.owner)
                line.add("online", JSONValue(connection.isOnline))
            }
        }
    }

    private func show(_ request: AnsweredRequest, _ activity: Activity, root: String) throws {
        // What is asked of the emulator itself is mostly asked by this tool.
        guard !request.isControl || self.options.verbose else { return }
        guard self.options.json else { return try self.line(self.text(of: request, activity, root: root)) }
        try self.object("activity") { line in
            line.add(activity, "request")
            line.add("method", request.method)
            line.add("target", request.shownTarget)
            line.add(
                JSONMembers(present: [
                    "control": request.isControl ? true : Bool?.none, "caller": request.caller,
                    "status": request.status, "error_code": request.errorCode,
                ]))
            line.add("elapsed_ms", request.elapsed.milliseconds)
            if !request.messages.isEmpty { line.add("sent", JSONValue(request.messages.map(\.json))) }
            guard self.options.verbose else { return }
            if let body = request.shownBody { line.add("body", body) }
            if let answer = request.shownAnswer { line.add("answer", answer) }
        }
    }

    private func text(of request: AnsweredRequest, _ activity: Activity, root: String) -> String {
        var path = request.shownTarget.terminalSafe
        if path.hasPrefix(root + "/") { path.removeFirst(root.count) }
        let status = request.status.map { "\($0)" } ?? "closed"
        let styled = (request.status ?? 500) < 400 ? status : self.style(status, .red)
        var words = [activity.at.localClock, self.style(request.method.terminalSafe, .bold), path, styled]
        if let code = request.errorCode { words.append(code.terminalSafe) }
        words.append(self.style(request.elapsed.text, .dim))
        for message in request.messages {
            let count = message.installationCount
            words.append("-> \(count) \(count == 1 ? "installation" : "installations")")
        }
        guard self.options.verbose else { return words.joined(separator: " ") }
        var lines = [words.joined(separator: " ")]
        if let caller = request.caller { lines.append("             by \(caller.terminalSafe)") }
        if let body = request.shownBody { lines.append("             > \(body.text.escapingTerminalControls)") }
        if let answer = request.shownAnswer { lines.append("             < \(answer.text.escapingTerminalControls)") }
        return lines.joined(separator: "\n")
    }
}

extension JSONObjectWriter {
    fileprivate mutating func add(_ activity: Activity, _ event: String) {
        self.add("id", activity.sequence)
        self.add("at", activity.at.description)
        self.add("event", event)
    }
}

extension SentMessage {
    fileprivate var json: JSONValue {
        [
            "id": JSONValue(self.id), "kind": JSONValue(self.kind), "source": JSONValue(self.source),
            "installations": JSONValue(self.installations.map { JSONValue($0) }),
        ]
    }
}
