/// The dead letters of an inbox in the order of reception, read page by page on demand.
struct DeadLetters: AsyncSequence, Sendable {
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

/// The dead letters of an inbox file, and the limit at which the agent stops reading from the network.
package struct DeadLetterStock: Sendable, Hashable {
    private let held: InboxCounts.Tally
    /// On a small disk less than ``PushRuntime/Bounds/deadLetterBytes``.
    private let limit: InboxCounts.Tally

    package init(_ held: InboxCounts.Tally, limit: InboxCounts.Tally) { (self.held, self.limit) = (held, limit) }

    package var count: Int64 { self.held.rows }
    package var isFull: Bool { self.held.rows >= self.limit.rows || self.held.bytes >= self.limit.bytes }

    /// Whether the agent reads from the network again: at nine tenths of the limits or less.
    package var hasRoom: Bool {
        // `limit.rows * 9` would overflow where the limit is `Int.max`.
        let rows = self.limit.rows / 10 * 9 + self.limit.rows % 10 * 9 / 10
        return self.held.rows <= rows && self.held.bytes / 9 <= self.limit.bytes / 10
    }

    package var advice: String {
        "the inbox holds \(self.count) dead letters (\(self.held.bytes >> 10) KiB), as many as it may hold: retry or drop some"
    }
}
