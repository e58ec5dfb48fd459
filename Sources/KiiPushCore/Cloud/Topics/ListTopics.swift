/// Lists the topics of a scope, one page at a time. Users and things see those they may subscribe to.
///
/// - Source: `GET /apps/{appID}/{scope}/topics[?paginationKey=…]`
public struct ListTopics: KiiListEndpoint {
    /// Topics.
    public typealias Element = Topic

    /// Where the topics live.
    public var scope: Scope
    /// What ``KiiPage/paginationKey`` of the page before said. `nil` for the first page.
    public var paginationKey: String?

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
    public func decode(_ response: KiiResponse) throws(KiiResponseError) -> KiiPage<Topic> {
        let fields = try response.fields()
        var topics: [Topic] = []
        for topic in try fields.objects("topics") { topics.append(Topic(try topic.string("topicID"), in: self.scope)) }
        return KiiPage(topics, paginationKey: try fields.paginationKey())
    }
}
