/// Receives a store's result on the loop's thread, during the call or later. Results come in the order of the calls.
package typealias StoreCompletion<Answer> = (Result<Answer, InboxError>) -> Void

/// Keeps messages by source, in a file, in memory, in another process, or on a server. Only the loop's thread uses it.
package protocol Store: AnyObject {
    /// Whether the agent may acknowledge a message once it is committed. Otherwise the message must first be done,
    /// dead, or shown in a notification.
    var isDurable: Bool { get }
    /// Whether a late success can still end a dead letter.
    var keepsDeadLetters: Bool { get }
    /// Whether a call such as ``proven(installation:through:)`` needs a commit, even of an empty turn.
    var hasMoreToWrite: Bool { get }
    var pendingBytes: Int64 { get }
    /// The most bytes that may wait for a handler, by the room on the disk.
    var pendingShare: Int64 { get }
    var deadLetterStock: DeadLetterStock? { get }
    /// About how many bytes one commit should write; `nil`: no limit.
    var commitBytes: Int64? { get }
    /// Rises when a change may have added waiting messages of agents that do not run.
    var backlogRevision: Int { get }
    var commitsWork: Bool { get }
    /// Notices of damaged files that no agent has reported yet, also of earlier processes.
    var notices: [InboxNotice] { get }
    /// Empty in a store across a network: use ``ledger(completion:)``.
    var ledger: MessageLedger { get }

    /// Writes a turn in one transaction, and answers its claims. One commit is under way at a time.
    func commit(_ turn: Turn, completion: @escaping StoreCompletion<TurnOutcome>)
    /// Makes room on a full disk. Returns the number of removed handled messages; `nil` if it cannot make room.
    func makeRoom() -> Int?
    /// Waits for pending calls, for some seconds at most, before the event loop ends.
    func settle()
    /// Writes postponed changes, and releases completions that it has not called.
    func close()

    func ledger(completion: @escaping StoreCompletion<MessageLedger>)
    /// Answers with the key of an installation, and makes a key for a new installation.
    func installation(id: String, of owner: InboxOwner?, agent: String, completion: @escaping StoreCompletion<Int64>)
    /// The rows that the broker may deliver again, since it may not have their acknowledgements.
    func unproven(installation: Int64, completion: @escaping StoreCompletion<[UnprovenRow]>)
    /// Records that the broker will repeat no row up to `sequence`.
    func proven(installation: Int64, through sequence: Int64)
    /// Records that the broker may have lost its session: no message counts as a redelivery of rows up to `sequence`.
    func doubt(installation: Int64, through sequence: Int64)
    /// Moves retries' due times by `shift`: the change of the calendar clock.
    func calendarMoved(by shift: Duration)
    func machineSlept(_ duration: Duration)
    /// Records the acknowledgement of a row of the last commit. Rows come in order.
    func acknowledged(_ sequence: Int64, at now: Timestamp)
    func removeNotices()
    /// The bytes that wait for a handler, except messages of these installations. May be slow.
    func pendingBytes(besides installations: Set<Int64>) throws(InboxError) -> Int64

    func deadLetters(after sequence: Int64, limit: Int, completion: @escaping StoreCompletion<[MessageRecord]>)
    func presented(
        installation: Int64, after sequence: Int64, limit: Int, completion: @escaping StoreCompletion<[StoredMessage]>)
    func message(_ sequence: Int64, completion: @escaping StoreCompletion<StoredMessage?>)
    /// Makes a message wait for delivery. A retry keeps its attempts; any other message starts at attempt 1. Answers
    /// with the number of its source; `nil` if no handler may see the message.
    func requeue(_ sequence: Int64, at now: Timestamp, completion: @escaping StoreCompletion<Int64?>)
    func drop(_ sequence: Int64, completion: @escaping StoreCompletion<Void>)
    /// Makes an installation handle the messages of its owner's other installations, except running ones. Answers with
    /// all installations whose messages this one handles, also through earlier calls.
    func takeOver(
        _ installation: Int64, besides isRunning: @escaping (Int64) -> Bool,
        completion: @escaping StoreCompletion<[Adoption]>)
    /// Makes an installation handle the messages of another one; `nil` if the store lacks either.
    func adopt(_ formerID: String, by installationID: String, completion: @escaping StoreCompletion<Adoption?>)
}

/// The defaults for a store whose messages end with its process.
extension Store {
    package var keepsDeadLetters: Bool { self.isDurable }
    package var hasMoreToWrite: Bool { false }
    package var pendingShare: Int64 { .max }
    package var deadLetterStock: DeadLetterStock? { nil }
    package var commitBytes: Int64? { nil }
    package var backlogRevision: Int { 0 }
    package var commitsWork: Bool { false }
    package var notices: [InboxNotice] { [] }
    package var ledger: MessageLedger { MessageLedger() }
    package func makeRoom() -> Int? { nil }
    package func settle() {}
    package func close() {}
    package func proven(installation: Int64, through sequence: Int64) {}
    package func doubt(installation: Int64, through sequence: Int64) {}
    package func calendarMoved(by shift: Duration) {}
    package func machineSlept(_ duration: Duration) {}
    package func acknowledged(_ sequence: Int64, at now: Timestamp) {}
    package func removeNotices() {}
    package func pendingBytes(besides installations: Set<Int64>) throws(InboxError) -> Int64 { 0 }

    package func ledger(completion: @escaping StoreCompletion<MessageLedger>) { completion(.success(self.ledger)) }
    package func unproven(installation: Int64, completion: @escaping StoreCompletion<[UnprovenRow]>) {
        completion(.success([]))
    }
    package func deadLetters(
        after sequence: Int64, limit: Int, completion: @escaping StoreCompletion<[MessageRecord]>
    ) { completion(.success([])) }
    package func presented(
        installation: Int64, after sequence: Int64, limit: Int, completion: @escaping StoreCompletion<[StoredMessage]>
    ) { completion(.success([])) }
    package func message(_ sequence: Int64, completion: @escaping StoreCompletion<StoredMessage?>) {
        completion(.success(nil))
    }
    package func requeue(_ sequence: Int64, at now: Timestamp, completion: @escaping StoreCompletion<Int64?>) {
        completion(.success(nil))
    }
    package func drop(_ sequence: Int64, completion: @escaping StoreCompletion<Void>) { completion(.success(())) }
    package func takeOver(
        _ installation: Int64, besides isRunning: @escaping (Int64) -> Bool,
        completion: @escaping StoreCompletion<[Adoption]>
    ) { completion(.success([])) }
    package func adopt(
        _ formerID: String, by installationID: String, completion: @escaping StoreCompletion<Adoption?>
    ) { completion(.success(nil)) }
}

/// An installation whose messages another installation handles.
package struct Adoption: Sendable {
    package var key: Int64
    package var id: String
    package var messages: Int

    package init(key: Int64, id: String, messages: Int = 0) { (self.key, self.id, self.messages) = (key, id, messages) }
}
