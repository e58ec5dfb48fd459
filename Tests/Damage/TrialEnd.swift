import KiiPushCore
import TestSupport

/// What an inbox holds when everything was done.
struct TrialEnd {
    let ledger: MessageLedger
    let letters: [DeadLetter]
    /// The numbers of the messages that wait, are in hand, or are shown.
    let open: Set<Int64>
    /// What does not add up in the file.
    let problems: [String]

    /// - Parameter directory: a state directory that nobody has open.
    init(ledger: MessageLedger, letters: [DeadLetter], directory: String) throws {
        let reader = try InboxReader(stateDirectory: directory)
        var problems = try LedgerAudit.problems(inStateDirectory: directory)
        do { try reader.verify() } catch { problems.append("still damaged: \(error)") }
        let states: Set<MessageTrace.Standing> = [.waiting, .running, .retry, .presented]
        let open = Set(try reader.messages(states, limit: 10_000).map(\.messageID))
        (self.ledger, self.letters, self.open, self.problems) = (ledger, letters, open, problems)
    }
}
