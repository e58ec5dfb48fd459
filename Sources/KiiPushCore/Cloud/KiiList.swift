struct KiiPage<Element: Sendable>: Sendable {
    let elements: [Element]
    let paginationKey: String?
    private let fields: KiiFields

    init(
        _ fields: KiiFields, _ key: String, _ read: (KiiFields) throws(KiiResponseError) -> Element
    ) throws(KiiResponseError) {
        var elements: [Element] = []
        for object in try fields.objects(key) { elements.append(try read(object)) }
        self.elements = elements
        let next = try fields.optionalString("paginationKey")
        self.paginationKey = next == "" ? nil : next
        self.fields = fields
    }

    var repetition: KiiResponseError {
        self.fields.failure("leads back to a page that was read already", at: "paginationKey")
    }
}

/// A list that the cloud sends page by page.
///
/// ```swift
/// for try await topic in session.topics(in: .app) {
///     print(topic.id)
/// }
/// ```
///
/// Every loop starts at the first page, and requests a page when it needs the page's first element. A loop throws
/// ``KiiResponseError`` if a page leads back to an earlier page. ``KiiClient`` lists the other errors.
public struct KiiList<Element: Sendable>: AsyncSequence, Sendable {
    private let page: @Sendable (_ paginationKey: String?) async throws -> KiiPage<Element>

    /// - Source: `paginationKey` in Kii's lists, as a query parameter and in the answer
    init(_ session: KiiSession, _ call: @escaping @Sendable () throws -> KiiCall<KiiPage<Element>>) {
        self.page = { key in
            var next = try call()
            if let key { next.query.append(("paginationKey", key)) }
            return try await session.perform(next)
        }
    }

    /// Reads all pages.
    ///
    /// - Throws: the errors of a loop over the list.
    public func all() async throws -> [Element] {
        var all: [Element] = []
        for try await element in self { all.append(element) }
        return all
    }

    /// Starts at the first page.
    public func makeAsyncIterator() -> some AsyncIteratorProtocol<Element, any Error> { Place(self) }

    private struct Place: AsyncIteratorProtocol {
        private let list: KiiList
        private var elements = [Element]().makeIterator()
        private var paginationKey: String?
        private var isAtEnd = false
        private var keysRead: Set<String> = []

        init(_ list: KiiList) { self.list = list }

        mutating func next() async throws -> Element? {
            while true {
                if let element = self.elements.next() { return element }
                guard !self.isAtEnd else { return nil }
                // Stays true after the last page, an error and a cancellation.
                self.isAtEnd = true
                try Task.checkCancellation()
                let page = try await self.list.page(self.paginationKey)
                if let next = page.paginationKey {
                    guard self.keysRead.insert(next).inserted else { throw page.repetition }
                    self.paginationKey = next
                    self.isAtEnd = false
                }
                self.elements = page.elements.makeIterator()
            }
        }
    }
}
