/// Lists the topics of a scope, one page at a time. Users and things see those they may subscribe to.
///
/// - Source: `GET /apps/{appID}/{scope}/topics[?paginationKey=…]`
public struct ListTopics: KiiEndpoint {
    /// Where the topics live.
    public var scope: Scope
    /// What ``TopicPage/paginationKey`` of the page before said. `nil` for the first page.
    public var paginationKey: String?
    /// The keys of the pages that were read, so that pages in a circle end in an error and not in a loop.
    var keysRead: Set<String> = []

    /// Makes the call.
    public init(in scope: Scope, paginationKey: String? = nil) {
        self.scope = scope
        self.paginationKey = paginationKey
    }

    /// GET.
    public var method: HTTPMethod { .get }
    /// 200.
    public var successStatuses: Set<Int> { [200] }
    /// `paginationKey`, if there is one.
    public var query: [KiiQueryItem] {
        self.paginationKey.map { [KiiQueryItem("paginationKey", $0)] } ?? []
    }

    /// The scope's topics.
    public func path(in app: KiiApp) -> KiiPath {
        .app(app).appending(self.scope).appending("topics")
    }

    /// Reads `topics` and `paginationKey`.
    public func decode(_ response: KiiResponse) throws(KiiResponseError) -> TopicPage {
        let fields = try response.fields()
        var page = TopicPage(topics: [], paginationKey: nil)
        for topic in try fields.objects("topics") {
            page.topics.append(Topic(try topic.string("topicID"), in: self.scope))
        }
        if let key = try fields.optionalString("paginationKey"), !key.isEmpty {
            guard key != self.paginationKey, !self.keysRead.contains(key) else {
                throw fields.error(.repeatedPage, at: "paginationKey")
            }
            page.paginationKey = key
        }
        return page
    }
}

/// Some of a scope's topics.
public struct TopicPage: Sendable, Hashable {
    /// The topics of this page.
    public var topics: [Topic]
    /// What asks for the next page. `nil` on the last one.
    public var paginationKey: String?

    /// Makes a page.
    public init(topics: [Topic], paginationKey: String?) {
        self.topics = topics
        self.paginationKey = paginationKey
    }
}
