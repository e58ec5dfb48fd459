import KiiPushCore

/// Looking at what was sent.
extension EmulatedCloud {
    /// Summaries, oldest first: `after` the message of that sequence number, at most `limit`.
    func showMessages(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let after = try self.number("after", in: 0...Int64.max, default: 0, call)
        let limit = try self.number("limit", in: 1...1000, default: 100, call)
        let page = self.messages.messages(after: after, limit: Int(limit)).map { JSONValue.object($0.summary) }
        return .json(200, nil, ["messages": JSONValue(page)])
    }

    /// One message with what each network got and which installations it was for.
    func showMessage(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        guard let message = self.messages.message(id: call["id"]) else {
            let message = "The message was not sent, or too many were since."
            throw KiiFailure(404, "MESSAGE_NOT_FOUND", message, [("pushMessageID", JSONValue(call["id"]))])
        }
        return .json(200, nil, .object(message.summary + message.details))
    }

    private func number(
        _ name: String, in range: ClosedRange<Int64>, default: Int64, _ call: CloudCall
    ) throws(KiiFailure) -> Int64 {
        guard let text = call.target.query[name] else { return `default` }
        guard let number = Int64(text), range.contains(number) else {
            throw .invalidInput("\(name) has to be a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }
}

extension LoggedMessage {
    fileprivate var summary: [(String, JSONValue)] {
        let delivered = PushNetwork.allCases.map { network in
            (network.rawValue, JSONValue(self.deliveries[network]?.count ?? 0))
        }
        let networks = self.renderings.map { $0.network.rawValue }
        return [
            ("sequence", JSONValue(self.sequence)), ("pushMessageID", JSONValue(self.id)),
            ("kind", JSONValue(self.kind.rawValue)), ("source", JSONValue("kiicloud://\(self.sourcePath)")),
            ("sender", JSONValue(self.sender.text)), ("sentAt", JSONValue(self.sentAt)),
            ("deliveries", .object(delivered.filter { networks.contains($0.0) })),
        ]
    }

    fileprivate var details: [(String, JSONValue)] {
        let renderings = self.renderings.map { rendering -> (String, JSONValue) in
            // Written by this program, so it can be read; were it not, nothing would be shown.
            (rendering.network.rawValue, (try? JSONValue(parsing: rendering.message)) ?? .null)
        }
        let installations = self.renderings.map { rendering -> (String, JSONValue) in
            (rendering.network.rawValue, JSONValue(texts: self.deliveries[rendering.network] ?? []))
        }
        return [("renderings", .object(renderings)), ("installations", .object(installations))]
    }
}
