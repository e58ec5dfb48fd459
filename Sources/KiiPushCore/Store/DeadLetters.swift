/// The dead letters of an inbox in the order of reception, read page by page on demand.
struct DeadLetters: AsyncSequence, Sendable {
    /// The most rows of a page; each may hold a payload of the largest packet.
    static let pageLimit = 32

    typealias Page = @Sendable (_ after: Int64) async throws -> [MessageRecord]

    private let first: Int64
    private let page: Page

    init(after messageID: Int64, page: @escaping Page) { (self.first, self.page) = (messageID, page) }

    func makeAsyncIterator() -> Place { Place(last: self.first, page: self.page) }

    struct Place: AsyncIteratorProtocol {
        private var last: Int64
        private let page: Page
        private var read: ArraySlice<MessageRecord> = []
        private var isAtEnd = false

        init(last: Int64, page: @escaping Page) { (self.last, self.page) = (last, page) }

        mutating func next() async throws -> MessageRecord? {
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

/// The number of dead letters in an inbox file, and the limit at which reading from the network stops.
package struct DeadLetterStock: Sendable, Hashable {
    package var count: Int64
    /// The bytes of all dead letters: payload, topic and 64 bytes for each.
    package var bytes: Int64
    /// ``PushRuntime/Bounds/deadLetters``.
    package var countLimit: Int64
    /// ``PushRuntime/Bounds/deadLetterBytes``, on a small disk less.
    package var bytesLimit: Int64

    package init(_ tally: InboxCounts.Tally, limit: InboxCounts.Tally) {
        (self.count, self.bytes) = (tally.rows, tally.bytes)
        (self.countLimit, self.bytesLimit) = (limit.rows, limit.bytes)
    }

    /// Whether reading from the network stops.
    package var isFull: Bool { self.count >= self.countLimit || self.bytes >= self.bytesLimit }

    /// Whether reading from the network resumes: below nine tenths of the limits.
    package var hasRoom: Bool {
        // `countLimit * 9` would overflow where the limit is `Int.max`.
        let count = self.countLimit / 10 * 9 + self.countLimit % 10 * 9 / 10
        return self.count <= count && self.bytes / 9 <= self.bytesLimit / 10
    }

    /// The number of dead letters, and the remedy if there are too many, in one line.
    package var advice: String {
        "the inbox holds \(self.count) dead letters (\(self.bytes >> 10) KiB), as many as it may hold: retry or drop some"
    }
}
