import KiiPushCore

extension [ReceiverFolder.Entry] {
    func named(_ name: String) throws(KiiFailure) -> ReceiverFolder.Entry {
        guard let entry = self.first(where: { $0.name == name }) else {
            throw KiiFailure(404, "RECEIVER_NOT_FOUND", "No receiver has this name.", ["receiver": name])
        }
        return entry
    }
}

extension ReceiverFolder.Entry {
    /// `nil` if the receiver has no inbox file, or if the file cannot be read now.
    private var inbox: InboxReader? { try? InboxReader(stateDirectory: self.stateDirectory) }

    var summary: JSONValue {
        let installations = AgentStateFile.installations(stateDirectory: self.stateDirectory) ?? []
        let client = try? ControlClient(stateDirectory: self.stateDirectory, patience: Receivers.patience)
        return .object(present: [
            "name": self.name, "stateDirectory": self.stateDirectory, "installations": installations.sorted(),
            "isReachable": client != nil, "deadLetters": (try? self.inbox?.deadLetterStock().count) ?? 0,
        ])
    }

    func events(of messageID: Int64) -> [JSONValue] {
        let record = try? self.inbox?.trace(of: messageID)
        return (record?.events ?? []).map { .object([("at", $0.at.description.json)] + $0.members) }
    }

    /// At most a hundred dead letters.
    var deadLetters: [JSONValue] {
        let letters = (try? self.inbox?.deadLetters()) ?? []
        return letters.map { letter in
            var reason: String?
            if case .dead(let said) = letter.state { reason = said.description }
            return .object(present: [
                "receiver": self.name, "id": letter.messageID, "receivedAt": letter.receivedAt.json,
                "attempts": letter.attempts, "reason": reason,
                "payload": (try? JSONValue(parsing: letter.payload))
                    ?? JSONValue(String(decoding: letter.payload, as: UTF8.self)),
            ])
        }
    }

    func retry(_ messageID: Int64) throws(KiiFailure) -> JSONValue {
        try self.decide("retried") { client throws(InboxAccessError) in try client.retry(messageID) }
    }

    func drop(_ messageID: Int64) throws(KiiFailure) -> JSONValue {
        try self.decide("dropped") { client throws(InboxAccessError) in try client.drop(messageID) }
    }

    private func decide(
        _ done: String, _ decide: (ControlClient) throws(InboxAccessError) -> MessageDecision
    ) throws(KiiFailure) -> JSONValue {
        func silent(_ reason: String) -> KiiFailure {
            KiiFailure(409, "RECEIVER_NOT_REACHABLE", reason, ["receiver": self.name])
        }
        let client = try? ControlClient(stateDirectory: self.stateDirectory, patience: .seconds(5))
        guard let client else { throw silent("The receiver does not run.") }
        do throws(InboxAccessError) {
            switch try decide(client) {
            case .carriedOut: return ["outcome": JSONValue(done)]
            case .running: return ["outcome": "running"]
            case .notFound: return ["outcome": "notFound"]
            }
        } catch {
            throw silent("\(error)")
        }
    }
}
