/// The dead letters of an inbox in the order of their reception, read as far as they are looked at.
///
/// ```swift
/// for try await letter in runtime.deadLetters() { print(letter.messageID, letter.state) }
/// ```
///
/// Each says what the message is and why it was given up on, and not what happened to it before:
/// ``InboxReader/trace(of:)`` does.
///
/// Every loop begins anew. A loop over them may have them tried again, or drop them, as it goes. They are read 32 at a
/// time, in the order of reception: one that dies meanwhile is in it if it was received after the last one that was
/// read, and otherwise not. It throws what ``PushRuntime/ledger()`` throws.
public struct DeadLetters: AsyncSequence, Sendable {
    /// So many are read at once; each may hold a payload of the largest packet.
    static let pageLimit = 32

    typealias Page = @Sendable (_ after: Int64) async throws -> [MessageRecord]

    private let first: Int64
    private let page: Page

    init(after messageID: Int64, page: @escaping Page) { (self.first, self.page) = (messageID, page) }

    /// All of them.
    public func all() async throws -> [MessageRecord] { try await self.reduce(into: []) { $0.append($1) } }
    /// Begins with the first one.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(last: self.first, page: self.page) }

    /// A place among them.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var last: Int64
        private let page: Page
        private var read: ArraySlice<MessageRecord> = []
        private var isAtEnd = false

        fileprivate init(last: Int64, page: @escaping Page) { (self.last, self.page) = (last, page) }

        /// The next one; `nil` after the last.
        public mutating func next() async throws -> MessageRecord? {
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
