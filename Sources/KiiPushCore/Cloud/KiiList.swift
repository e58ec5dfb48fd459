/// One page of a list.
public struct KiiPage<Element: Sendable>: Sendable {
    /// What the page holds, in the cloud's order.
    public var elements: [Element]
    /// What asks for the next page. `nil` on the last one.
    public var paginationKey: String?

    /// Makes a page.
    public init(_ elements: [Element], paginationKey: String? = nil) {
        self.elements = elements
        self.paginationKey = paginationKey
    }
}

extension KiiPage: Equatable where Element: Equatable {}
extension KiiPage: Hashable where Element: Hashable {}

/// A call that reads a list page by page.
///
/// - Source: `paginationKey` in Kii's lists, as a query parameter and in the answer
public protocol KiiListEndpoint: KiiEndpoint where Response == KiiPage<Element> {
    /// What the list holds.
    associatedtype Element: Sendable

    /// What the page before said. `nil` for the first page.
    var paginationKey: String? { get set }
}

/// A list that is read from the cloud as far as it is looked at.
///
/// ```swift
/// for try await topic in client.topics(in: .app, token: token) { print(topic.id) }
/// ```
///
/// A page is asked for when the one before is used up. Every loop over a list begins anew with its first page. A loop
/// ends in ``KiiResponseError`` with ``KiiResponseError/Problem/repeatedPage`` when a page leads back to one that was
/// read already, and in `CancellationError` when its task is cancelled; otherwise see ``KiiClient``.
public struct KiiList<Element: Sendable>: AsyncSequence, Sendable {
    private let page: @Sendable (_ paginationKey: String?) async throws -> KiiPage<Element>
    private let operation: @Sendable () throws -> KiiOperation

    /// Makes a list of what `call` reads, whichever page it asks for.
    ///
    /// - Parameters:
    ///   - call: Reads one page.
    ///   - client: What it is sent with.
    ///   - token: The token.
    public init<Call: KiiListEndpoint>(_ call: Call, client: KiiClient, token: Secret) where Call.Element == Element {
        self.init(call, app: client.app) { try await client.execute($0, token: token) }
    }

    /// Makes a list of what `call` reads, each page with the token that `session` has then.
    public init<Call: KiiListEndpoint>(_ call: Call, session: KiiSession) where Call.Element == Element {
        self.init(call, app: session.client.app) { try await session.execute($0) }
    }

    private init<Call: KiiListEndpoint>(
        _ call: Call,
        app: KiiApp,
        execute: @escaping @Sendable (Call) async throws -> KiiPage<Element>
    ) where Call.Element == Element {
        self.page = { key in
            var next = call
            next.paginationKey = key ?? call.paginationKey
            return try await execute(next)
        }
        self.operation = { KiiOperation(method: call.method, path: try call.path(in: app).encoded()) }
    }

    /// All of it.
    ///
    /// - Throws: What a loop over the list ends in.
    public func all() async throws -> [Element] {
        var all: [Element] = []
        for try await element in self { all.append(element) }
        return all
    }

    /// Begins with the first page.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    /// A place in the list.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private enum Position {
            case first
            case after(String)
            case end
        }

        private let list: KiiList
        private var elements = [Element]().makeIterator()
        private var position = Position.first
        private var keysRead: Set<String> = []

        fileprivate init(_ list: KiiList) {
            self.list = list
        }

        /// The next element; `nil` at the end, and after an error.
        public mutating func next() async throws -> Element? {
            while true {
                if let element = self.elements.next() { return element }
                let key: String?
                switch self.position {
                case .first: key = nil
                case .after(let next): key = next
                case .end: return nil
                }
                self.position = .end
                try Task.checkCancellation()
                try await self.read(key)
            }
        }

        private mutating func read(_ key: String?) async throws {
            let page = try await self.list.page(key)
            if let next = page.paginationKey {
                guard self.keysRead.insert(next).inserted else {
                    throw KiiResponseError(.repeatedPage, at: "paginationKey", of: try self.list.operation())
                }
                self.position = .after(next)
            }
            self.elements = page.elements.makeIterator()
        }
    }
}
