/// A message that was given up on, as the inbox's file keeps it until a person has it tried again or drops it.
public struct DeadLetter: Sendable, Hashable {
    /// The message's number in the inbox, as in ``DeliveryContext/messageID``.
    public var messageID: Int64
    /// The installation that received it; `nil` if a damaged inbox could not say it any more. Such a letter can be
    /// dropped, but not be tried again: ``PushRuntime/retryDeadLetter(_:)`` returns `false`.
    public var installationID: String?
    /// The MQTT topic it came on.
    public var topic: String
    /// The payload as it came, which ``ReceivedMessage/init(payload:)`` may or may not read; of an oversized message its
    /// beginning.
    public var payload: [UInt8]
    /// How long the payload was in bytes, if ``payload`` is only its beginning.
    public var originalLength: Int?
    /// Why it was given up on: the ``DeadLetterReason/description`` of the reason.
    public var reason: String
    /// How many attempts were made; 0 for a message that no handler was meant for.
    public var attempts: Int
    /// When it was received.
    public var receivedAt: Timestamp
    /// When it was given up on.
    public var diedAt: Timestamp

    /// The dead letters of an inbox behind this number, in the order of reception.
    static func page(of inbox: Inbox, after sequence: Int64, limit: Int) throws(InboxError) -> [DeadLetter] {
        var letters: [DeadLetter] = []
        for row in try inbox.deadLetters(after: sequence, limit: limit) {
            letters.append(DeadLetter(row, installationID: try inbox.installationID(row.message.installation)))
        }
        return letters
    }

    private init(_ row: StoredRow, installationID: String?) {
        self.messageID = row.sequence
        self.installationID = installationID
        self.topic = row.message.topic
        self.payload = row.message.payload
        self.originalLength = row.message.originalLength
        self.reason = row.message.reason ?? ""
        self.attempts = row.attempts
        self.receivedAt = row.message.receivedAt
        self.diedAt = row.updatedAt
    }
}

/// The dead letters of an inbox in the order of their reception, read as far as they are looked at.
///
/// ```swift
/// for try await letter in runtime.deadLetters() { print(letter.messageID, letter.reason) }
/// ```
///
/// Every loop begins anew. A loop over them may have them tried again, or drop them, as it goes. They are read 32 at a
/// time, in the order of reception: one that dies meanwhile is in it if it was received after the last one that was
/// read, and otherwise not. It throws what ``PushRuntime/ledger()`` throws.
public struct DeadLetters: AsyncSequence, Sendable {
    /// So many are read at once; each may hold a payload of the largest packet.
    static let pageLimit = 32

    private let first: Int64
    private let page: @Sendable (_ after: Int64) async throws -> [DeadLetter]

    init(after messageID: Int64, page: @escaping @Sendable (_ after: Int64) async throws -> [DeadLetter]) {
        self.first = messageID
        self.page = page
    }

    /// All of them.
    public func all() async throws -> [DeadLetter] {
        var all: [DeadLetter] = []
        for try await letter in self { all.append(letter) }
        return all
    }

    /// Begins with the first one.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(last: self.first, page: self.page) }

    /// A place among them.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var last: Int64
        private let page: @Sendable (_ after: Int64) async throws -> [DeadLetter]
        private var read: ArraySlice<DeadLetter> = []
        private var isAtEnd = false

        init(last: Int64, page: @escaping @Sendable (_ after: Int64) async throws -> [DeadLetter]) {
            self.last = last
            self.page = page
        }

        /// The next one; `nil` after the last.
        public mutating func next() async throws -> DeadLetter? {
            if self.read.isEmpty, !self.isAtEnd {
                let page = try await self.page(self.last)
                self.isAtEnd = page.isEmpty
                self.read = page[...]
            }
            guard let letter = self.read.popFirst() else { return nil }
            self.last = letter.messageID
            return letter
        }
    }
}
