package import KiiPushCore

/// Reports the results of one decision, to retry or to drop, for several messages.
package struct DecisionReport: Sendable {
    private let decision: PushRuntime.Decision
    private let console: Console
    private var missing: [Int64] = []
    private var running: [(id: Int64, age: Duration)] = []
    package private(set) var asked: [Int64] = []

    package init(_ decision: PushRuntime.Decision, on console: Console) {
        self.decision = decision
        self.console = console
    }

    package mutating func note(_ answer: MessageDecision?, of id: Int64) throws {
        switch answer {
        case .carriedOut:
            try self.console.result("\(self.decision.word) #\(id)")
            try self.console.object(self.decision.word, ["id": id])
        case .running(let age): self.running.append((id, age))
        case .notFound: self.missing.append(id)
        case nil: self.asked.append(id)
        }
    }

    /// - Throws: ``CommandFailure`` with exit 66 for an unknown message, and with exit 75 if a message's handler is
    ///   running or no gateway has answered.
    package func end(list: String) throws {
        if !self.missing.isEmpty {
            let them = self.missing.map { "#\($0)" }.joined(separator: ", ")
            throw CommandFailure(
                .missingInput,
                "\(them) cannot be \(self.decision.word): \(self.missing.count == 1 ? "it is" : "they are") not in the inbox"
                    + (self.decision == .retry ? ", or nobody knows for whom" : ""),
                hint: "run: \(list)")
        }
        if let first = self.running.first {
            throw CommandFailure(
                .temporary, "#\(first.id) is in hand: its handler has been at it for \(first.age.text)",
                hint: "try again when it has answered")
        }
        guard let first = self.asked.first else { return }
        let others = self.asked.count > 1 ? " and \(self.asked.count - 1) more are" : " is"
        throw CommandFailure(
            .temporary, "#\(first)\(others) asked for, but no gateway has answered",
            hint: "the next one that has the message does it")
    }
}

extension PushRuntime.Decision {
    fileprivate var word: String {
        switch self {
        case .retry: "retried"
        case .drop: "dropped"
        }
    }
}
