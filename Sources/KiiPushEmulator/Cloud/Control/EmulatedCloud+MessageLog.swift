import KiiPushCore

extension EmulatedCloud {
    func showMessages(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let after = try self.number("after", in: 0...Int64.max, default: 0, call)
        let limit = try self.number("limit", in: 1...1000, default: 100, call)
        let page = self.messages.entries(after: after, limit: Int(limit)).map { JSONValue.object($0.summary) }
        return .json(200, nil, ["messages": JSONValue(page)])
    }

    func showMessage(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let message = try self.message(call["id"])
        return .json(200, nil, .object(message.summary + message.details))
    }

    func message(_ id: String) throws(KiiFailure) -> LoggedMessage {
        guard let message = self.messages.all.first(where: { $0.id == id }) else {
            let text = "The message was not sent, or too many were since."
            throw KiiFailure(404, "MESSAGE_NOT_FOUND", text, ["pushMessageID": id])
        }
        return message
    }

    func number(
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
    fileprivate var summary: JSONMembers {
        let networks = PushNetwork.allCases.filter { network in self.renderings.contains { $0.network == network } }
        let delivered = networks.map { ($0.rawValue, JSONValue(self.deliveries[$0]?.count ?? 0)) }
        return JSONMembers(all: [
            "sequence": self.sequence, "pushMessageID": self.id, "kind": self.kind.rawValue,
            "source": "kiicloud://\(self.sourcePath)", "sender": self.sender.text, "sentAt": self.sentAt.json,
            "deliveries": JSONValue.object(delivered),
        ])
    }

    fileprivate var details: JSONMembers {
        // The emulator wrote this JSON, so parsing cannot fail.
        let renderings = self.renderings.map { ($0.network.rawValue, (try? JSONValue(parsing: $0.message)) ?? .null) }
        let installations = self.renderings.map { ($0.network.rawValue, (self.deliveries[$0.network] ?? []).json) }
        return JSONMembers(all: [
            "renderings": JSONValue.object(renderings), "installations": JSONValue.object(installations),
        ])
    }
}
