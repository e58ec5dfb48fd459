/// What takes a store's answer. Called on the loop's thread, now or in a later turn; answers come in the order of the
/// questions, and after a commit that is under way.
package typealias StoreCompletion<Answer> = (Result<Answer, InboxError>) -> Void

/// Where messages are kept, as a queue by source: a file, memory, another process, or a server. Lives on the loop thread.
package protocol Store: AnyObject {
    /// Whether a message may be acknowledged when it is committed. Otherwise its acknowledgement waits for its outcome.
    var isDurable: Bool { get }
    /// Whether a message that is given up on is kept, so that a late success still ends it.
    var keepsDeadLetters: Bool { get }
    /// Whether what ``proven(installation:through:)`` or ``calendarMoved(by:)`` noted is worth a commit of its own.
    var hasMoreToWrite: Bool { get }
    var pendingBytes: Int64 { get }
    /// How many bytes may wait for a handler, as far as the store has room.
    var pendingShare: Int64 { get }
    /// The dead letters, and how many there may be; `nil` if none are kept.
    var deadLetterStock: DeadLetterStock? { get }
    /// About how many bytes one commit should write; `nil`: as many as there are.
    var commitBytes: Int64? { get }
    /// Rises when a message was made to wait, or the file replaced: more may wait for an agent that does not run.
    var backlogRevision: Int { get }
    /// Whether it writes what a handler's answer is to be committed with.
    var commitsWork: Bool { get }
    /// What became of damaged files, also in earlier processes, and no agent has told yet.
    var notices: [InboxNotice] { get }

    /// Writes a turn, or a part of one, whole or not at all, and answers its claims. Calls `completion` on the loop's
    /// thread, now or in a later turn. One commit is under way at a time.
    func commit(_ turn: Turn, completion: @escaping StoreCompletion<TurnOutcome>)
    /// Makes room on a full disk. Returns how many handled messages it has removed; `nil` if it knows no way.
    func makeRoom() -> Int?
    /// Blocks until what is under way is answered, for some seconds at most: the loop is about to end.
    func settle()
    /// Nothing follows: what is put off otherwise is written now, and completions that were not called are let go of.
    func close()

    /// What has become of every message.
    func ledger(completion: @escaping StoreCompletion<MessageLedger>)
    /// The key of an installation, made if it is new; it is noted whose it is, if that is known.
    ///
    /// - Parameter agent: the name of the agent that receives as it.
    func installation(id: String, of owner: InboxOwner?, agent: String, completion: @escaping StoreCompletion<Int64>)
    /// The rows that may come again: their acknowledgement may not have arrived.
    func unproven(installation: Int64, completion: @escaping StoreCompletion<[UnprovenRow]>)
    /// Notes that the broker will not repeat rows up to `sequence`, and may repeat later ones. Written with the next commit.
    func proven(installation: Int64, through sequence: Int64)
    /// Notes that the broker may have forgotten the session of the rows up to `sequence`. Nothing counts as a repetition
    /// of them until ``proven(installation:through:)`` is called. Written with the next commit.
    func doubt(installation: Int64, through sequence: Int64)
    /// Notes that the calendar was set, so that a retry keeps its delay; written with the next commit.
    func calendarMoved(by shift: Duration)
    /// The machine slept for this long: pauses before retries went on meanwhile.
    func machineSlept(_ duration: Duration)
    /// Notes, for the record, that a row that the last commit stored is acknowledged. Rows come in order.
    func acknowledged(_ sequence: Int64, at now: Timestamp)
    func removeNotices()
    /// Bytes that wait for a handler, those of these installations left out. May take a while.
    func pendingBytes(besides installations: Set<Int64>) throws(InboxError) -> Int64

    /// The messages that were given up on and are kept, in the order of reception: the page after `sequence`.
    func deadLetters(after sequence: Int64, limit: Int, completion: @escaping StoreCompletion<[MessageRecord]>)
    /// The messages of an installation that the user is shown, in the order of reception: the page after `sequence`.
    func presented(
        installation: Int64, after sequence: Int64, limit: Int, completion: @escaping StoreCompletion<[StoredMessage]>)
    /// Where a message stands that is kept on file; `nil` if it is not there.
    func standing(of sequence: Int64, completion: @escaping StoreCompletion<MessageStanding?>)
    /// Makes a message wait for delivery, now: one that waits for its retry goes on from there, any other begins anew.
    /// Answers with the number of its source; `nil` of one that no handler is to see.
    func requeue(_ sequence: Int64, at now: Timestamp, completion: @escaping StoreCompletion<Int64?>)
    func drop(_ sequence: Int64, completion: @escaping StoreCompletion<Void>)
    /// Has an installation handle the messages of its owner's other ones, but for those that are received as now. Answers
    /// with all installations whose messages it handles besides its own, earlier adopted ones included.
    func takeOver(
        _ installation: Int64, besides isRunning: @escaping (Int64) -> Bool,
        completion: @escaping StoreCompletion<[Adoption]>)
    /// Has an installation handle the messages of another one; `nil` unless both are known.
    func adopt(_ formerID: String, by installationID: String, completion: @escaping StoreCompletion<Adoption?>)
}

/// What a store has that keeps nothing beyond the process: no record and no dead letters.
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

/// Where a message stands, and whose it is.
package struct MessageStanding: Sendable {
    package var state: RowState
    package var installation: Int64
    /// Whether it is known who receives as its installation.
    package var hasInstallation: Bool

    package init(state: RowState, installation: Int64, hasInstallation: Bool) {
        (self.state, self.installation, self.hasInstallation) = (state, installation, hasInstallation)
    }
}

/// An installation whose messages another one handles.
package struct Adoption: Sendable {
    package var key: Int64
    package var id: String
    /// How many messages were taken over just now; 0 for one that was adopted earlier.
    package var messages: Int

    package init(key: Int64, id: String, messages: Int = 0) { (self.key, self.id, self.messages) = (key, id, messages) }
}
