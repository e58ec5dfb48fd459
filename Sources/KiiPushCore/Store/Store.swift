/// Takes a store's answer, on the loop's thread, now or in a later turn. Answers come in the order of the questions,
/// and after a commit that is under way.
package typealias StoreCompletion<Answer> = (Result<Answer, InboxError>) -> Void

/// Keeps messages, as a queue by source, in a file, memory, another process, or a server. Lives on the loop thread.
package protocol Store: AnyObject {
    /// Whether a committed message may be acknowledged. Otherwise its acknowledgement waits for its outcome.
    var isDurable: Bool { get }
    /// Whether the store keeps a message that delivery gives up on, so that a late success still ends it.
    var keepsDeadLetters: Bool { get }
    /// Whether the notes of ``proven(installation:through:)`` or ``calendarMoved(by:)`` are worth a commit of their
    /// own.
    var hasMoreToWrite: Bool { get }
    var pendingBytes: Int64 { get }
    /// The most bytes that may wait for a handler, by the store's room.
    var pendingShare: Int64 { get }
    /// The dead letters and their limit; `nil` if the store keeps none.
    var deadLetterStock: DeadLetterStock? { get }
    /// The approximate bytes that one commit should write; `nil`: no limit.
    var commitBytes: Int64? { get }
    /// Rises when a message was made to wait or the file was replaced: more may wait for an agent that does not run.
    var backlogRevision: Int { get }
    /// Whether the store writes the work that a handler commits with its answer.
    var commitsWork: Bool { get }
    /// Notices of damaged files that no agent has told yet, including notices of earlier processes.
    var notices: [InboxNotice] { get }

    /// Writes a turn, or a part of one, whole or not at all, and answers its claims. Calls `completion` on the loop's
    /// thread, now or in a later turn. One commit is under way at a time.
    func commit(_ turn: Turn, completion: @escaping StoreCompletion<TurnOutcome>)
    /// Makes room on a full disk. Returns the number of handled messages that it removed; `nil` if it knows no way.
    func makeRoom() -> Int?
    /// Blocks until pending questions are answered, for some seconds at most: the loop is about to end.
    func settle()
    /// Ends the store: it writes postponed changes, and releases completions that it has not called.
    func close()

    /// Counts the messages by outcome and state.
    func ledger(completion: @escaping StoreCompletion<MessageLedger>)
    /// The key of an installation, made if it is new. Records the owner, if known.
    ///
    /// - Parameter agent: the name of the agent that receives as it.
    func installation(id: String, of owner: InboxOwner?, agent: String, completion: @escaping StoreCompletion<Int64>)
    /// The rows that the broker may deliver again: their acknowledgement may not have arrived.
    func unproven(installation: Int64, completion: @escaping StoreCompletion<[UnprovenRow]>)
    /// Notes that the broker will not repeat rows up to `sequence`, and may repeat later ones. The next commit writes
    /// it.
    func proven(installation: Int64, through sequence: Int64)
    /// Notes that the broker may have forgotten the session of the rows up to `sequence`. Nothing counts as a
    /// repetition of them until ``proven(installation:through:)`` is called. The next commit writes it.
    func doubt(installation: Int64, through sequence: Int64)
    /// Notes that the calendar was set, so that a retry keeps its delay. The next commit writes it.
    func calendarMoved(by shift: Duration)
    /// Notes that the machine slept for this long: pauses before retries went on meanwhile.
    func machineSlept(_ duration: Duration)
    /// Notes, for the record, the acknowledgement of a row that the last commit stored. Rows come in order.
    func acknowledged(_ sequence: Int64, at now: Timestamp)
    func removeNotices()
    /// The bytes that wait for a handler, except messages of these installations. May take a while.
    func pendingBytes(besides installations: Set<Int64>) throws(InboxError) -> Int64

    /// The dead letters that the store keeps, in the order of reception: the page after `sequence`.
    func deadLetters(after sequence: Int64, limit: Int, completion: @escaping StoreCompletion<[MessageRecord]>)
    /// The presented messages of an installation, in the order of reception: the page after `sequence`.
    func presented(
        installation: Int64, after sequence: Int64, limit: Int, completion: @escaping StoreCompletion<[StoredMessage]>)
    /// The state and installation of a message on file; `nil` if it is not there.
    func standing(of sequence: Int64, completion: @escaping StoreCompletion<MessageStanding?>)
    /// Makes a message wait for delivery, now. A message that waits for its retry goes on from there; any other begins
    /// anew. Answers with the number of its source; `nil` if no handler may see the message.
    func requeue(_ sequence: Int64, at now: Timestamp, completion: @escaping StoreCompletion<Int64?>)
    func drop(_ sequence: Int64, completion: @escaping StoreCompletion<Void>)
    /// Makes an installation handle the messages of its owner's other installations, except running ones. Answers with
    /// all installations whose messages it handles besides its own, including earlier adopted ones.
    func takeOver(
        _ installation: Int64, besides isRunning: @escaping (Int64) -> Bool,
        completion: @escaping StoreCompletion<[Adoption]>)
    /// Makes an installation handle the messages of another one; `nil` unless both are known.
    func adopt(_ formerID: String, by installationID: String, completion: @escaping StoreCompletion<Adoption?>)
}

/// The defaults, for a store that keeps nothing beyond the process: no record and no dead letters.
extension Store {
    package var keepsDeadLetters: Bool { self.isDurable }
    package var hasMoreToWrite: Bool { false }
    package var pendingShare: Int64 { .max }
    package var deadLetterStock: DeadLetterStock? { nil }
    package var commitBytes: Int64? { nil }
    package var backlogRevision: Int { 0 }
    package var commitsWork: Bool { false }
    package var notices: [InboxNotice] { [] }
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
}

package struct MessageStanding: Sendable {
    package var state: RowState
    package var installation: Int64
    /// Whether the store knows the ID of its installation.
    package var hasInstallation: Bool

    package init(state: RowState, installation: Int64, hasInstallation: Bool) {
        (self.state, self.installation, self.hasInstallation) = (state, installation, hasInstallation)
    }
}

/// An installation whose messages another one handles.
package struct Adoption: Sendable {
    package var key: Int64
    package var id: String
    /// The number of messages in this takeover; 0 for an earlier adoption.
    package var messages: Int

    package init(key: Int64, id: String, messages: Int = 0) { (self.key, self.id, self.messages) = (key, id, messages) }
}
