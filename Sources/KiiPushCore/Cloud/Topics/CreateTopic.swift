/// Creates a topic. An app-scope topic needs an administrator's token.
///
/// - Source: `PUT /apps/{appID}/{scope}/topics/{topicID}` with an empty body
public struct CreateTopic: KiiEndpoint {
    /// What became of the topic.
    public enum Outcome: Sendable, Hashable {
        /// It was created by this call.
        case created
        /// It was there already, and was left as it was. After a repetition it may be the first request that made it.
        case alreadyExisted
    }

    /// The topic.
    public var topic: Topic
    /// Whether a topic that is there already is a success.
    public var acceptsExisting: Bool

    /// Makes the call.
    ///
    /// - Parameters:
    ///   - topic: The topic.
    ///   - acceptsExisting: Whether a topic that is there already is a success. Default `true`.
    public init(_ topic: Topic, acceptsExisting: Bool = true) {
        self.topic = topic
        self.acceptsExisting = acceptsExisting
    }

    /// PUT.
    public var method: HTTPMethod { .put }
    /// Not when one that is there already is an error: a repetition would meet what the first request made.
    public var isIdempotent: Bool { self.acceptsExisting }
    /// Empty.
    public var body: KiiBody { .empty }
    /// 204.
    public var successStatuses: Set<Int> { [204] }

    /// The topic's path.
    public func path(in app: KiiApp) -> KiiPath { .app(app).appending(self.topic) }

    /// Refuses an ID that Kii refuses.
    public func validate() throws(KiiInputError) { try self.topic.validate() }

    /// Created.
    public func decode(_ response: KiiResponse) throws(KiiResponseError) -> Outcome { .created }

    /// 409, if accepted.
    public func answer(from error: KiiError) -> Outcome? {
        self.acceptsExisting && error.saysItExists(.topicAlreadyExists) ? .alreadyExisted : nil
    }
}

extension Topic {
    func validate() throws(KiiInputError) {
        guard Topic.isValidID(self.id) else {
            throw KiiInputError(.topicID, rule: "1 to 64 of A-Z a-z 0-9 _ -")
        }
    }
}
