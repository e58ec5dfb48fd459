/// Asks whether a topic is there.
///
/// It uses GET, which Kii answers like HEAD when there is a topic: the answer to HEAD has no body, so it cannot tell a
/// topic that is missing from an app or a user that is.
///
/// - Source: `GET /apps/{appID}/{scope}/topics/{topicID}`
public struct CheckTopic: KiiEndpoint {
    /// The topic.
    public var topic: Topic

    /// Makes the call.
    public init(_ topic: Topic) {
        self.topic = topic
    }

    /// GET.
    public var method: HTTPMethod { .get }
    /// 204 or 200: Kii's text says the latter, its SDKs take both.
    public var successStatuses: Set<Int> { [200, 204] }

    /// The topic's path.
    public func path(in app: KiiApp) -> KiiPath { .app(app).appending(self.topic) }

    /// Refuses an ID that Kii refuses.
    public func validate() throws(KiiInputError) { try self.topic.validate() }

    /// It is there.
    public func decode(_ response: KiiResponse) throws(KiiResponseError) -> Bool { true }

    /// It is not there; a missing app, user, group or thing stays an error.
    public func answer(from error: KiiError) -> Bool? {
        error.saysItIsAbsent([.topicNotFound]) ? false : nil
    }
}

/// Removes a topic with its subscriptions.
///
/// - Source: `DELETE /apps/{appID}/{scope}/topics/{topicID}`
public struct DeleteTopic: KiiEndpoint {
    /// Nothing.
    public typealias Response = Void

    /// The topic.
    public var topic: Topic

    /// Makes the call.
    public init(_ topic: Topic) {
        self.topic = topic
    }

    /// DELETE.
    public var method: HTTPMethod { .delete }
    /// 204.
    public var successStatuses: Set<Int> { [204] }

    /// The topic's path.
    public func path(in app: KiiApp) -> KiiPath { .app(app).appending(self.topic) }

    /// Refuses an ID that Kii refuses.
    public func validate() throws(KiiInputError) { try self.topic.validate() }
}
