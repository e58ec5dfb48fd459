import KiiPushCommandLine
import KiiPushCore
import KiiPushEmulator

extension Console {
    /// - Parameter root: the common start of the app's paths, which text output leaves out.
    func show(_ activity: Activity, root: String) throws {
        guard self.verbose || !activity.isDetail else { return }
        guard !self.json else {
            return try self.object("activity", activity.members(withBodies: self.verbose))
        }
        let text =
            switch activity.event {
            case .request(let request): self.text(of: request, root: root)
            case .connection(let connection): self.text(of: connection)
            case .webSocket(let ended):
                "\(self.style(ended.transport.text, ended.isFault ? .red : .dim)) \(ended.reason.terminalSafe)"
            case .delivery(let delivery): self.text(of: delivery)
            case .missed(let receiver, let count): "\(count) events of \(receiver.terminalSafe) are missing here"
            }
        try self.line("\(activity.at.localClock) \(text)")
    }

    private func text(of connection: InstallationConnection) -> String {
        let word = connection.isOnline ? self.style("online", .green) : self.style("offline", .dim)
        let transport = connection.isOnline ? ", over \(connection.transport.text)" : ""
        return "\(word) \(connection.owner), installation \(connection.installationID)\(transport)"
    }

    private func text(of delivery: MessageDelivery) -> String {
        let (kind, parts) = (delivery.event.kind, delivery.event.kind.parts)
        var (word, result, detail) = (kind.word, "", parts.detail)
        if case .done(let answer, _, _) = kind { (word, result, detail) = ("handled", answer.word.padded(to: 9), nil) }
        var text = self.style(word.padded(to: 10), word == "failed" || word == "dead" ? .red : .bold)
        text += "\(result)\(delivery.event.messageID)  \(delivery.receiver.terminalSafe)"
        if let attempt = parts.attempt { text += ", attempt \(attempt)" }
        if let elapsed = delivery.elapsed { text += ", \(elapsed.text)" }
        if let detail { text += ": \(detail.terminalSafe)" }
        if let pause = parts.pause { text += "; again after \(pause.text)" }
        return text
    }

    private func text(of request: AnsweredRequest, root: String) -> String {
        var path = request.shownTarget.terminalSafe
        if path.hasPrefix(root + "/") { path.removeFirst(root.count) }
        let status = request.status.map { "\($0)" } ?? "closed"
        let styled = (request.status ?? 500) < 400 ? status : self.style(status, .red)
        var words = [self.style(request.method.terminalSafe, .bold), path, styled]
        if let code = request.errorCode { words.append(code.terminalSafe) }
        words.append(self.style(request.elapsed.text, .dim))
        for message in request.messages {
            let count = message.installationCount
            words.append("-> \(count) \(count == 1 ? "installation" : "installations")")
        }
        guard self.verbose else { return words.joined(separator: " ") }
        var lines = [words.joined(separator: " ")]
        if let caller = request.caller { lines.append("             by \(caller.terminalSafe)") }
        if let body = request.shownBody { lines.append("             > \(body.text.escapingTerminalControls)") }
        if let answer = request.shownAnswer { lines.append("             < \(answer.text.escapingTerminalControls)") }
        return lines.joined(separator: "\n")
    }
}
