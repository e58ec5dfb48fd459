/// Allows somebody to do something with a topic.
///
/// For administrators, the owner of the topic's scope, and the topic's creator.
///
/// - Source: `PUT …/topics/{topicID}/acl/{verb}/{subject}` with an empty body
public struct GrantTopicAccess: KiiEndpoint {
    /// What became of the entry.
    public enum Outcome: Sendable, Hashable {
        /// It was made by this call.
        case granted
        /// It was there already.
        case alreadyGranted
    }

    /// The topic.
    public var topic: Topic
    /// What is allowed.
    public var verb: TopicVerb
    /// To whom.
    public var subject: AccessSubject
    /// Whether an entry that is there already is a success.
    public var acceptsExisting: Bool

    /// Makes the call.
    ///
    /// - Parameters:
    ///   - verb: What is allowed.
    ///   - topic: The topic.
    ///   - subject: To whom.
    ///   - acceptsExisting: Whether an entry that is there already is a success. Default `true`.
    public init(
        _ verb: TopicVerb,
        on topic: Topic,
        to subject: AccessSubject,
        acceptsExisting: Bool = true
    ) {
        self.topic = topic
        self.verb = verb
        self.subject = subject
        self.acceptsExisting = acceptsExisting
    }

    /// PUT.
    public var method: HTTPMethod { .put }
    /// Not when one that is there already is an error: a repetition would meet what the first request made.
    public var isIdempotent: Bool { self.acceptsExisting }
    /// Empty.
    public var body: KiiBody { .empty }
    /// 204; 200 and 201 are taken as well, since the status was not found in Kii's documents.
    public var successStatuses: Set<Int> { [200, 201, 204] }

    /// The entry's path.
    public func path(in app: KiiApp) -> KiiPath { .entry(of: self.subject, for: self.verb, to: self.topic, in: app) }

    /// Refuses an ID that Kii refuses, and anonymous users.
    public func validate() throws(KiiInputError) {
        try self.topic.validate()
        try self.subject.validate()
        guard self.subject != .anonymousUser else {
            throw KiiInputError(.accessSubject, rule: "somebody who signs in")
        }
    }

    /// Granted.
    public func decode(_ response: KiiResponse) throws(KiiResponseError) -> Outcome { .granted }

    /// 409, if accepted.
    public func answer(from error: KiiError) -> Outcome? {
        self.acceptsExisting && error.saysItExists(.aclAlreadyExists) ? .alreadyGranted : nil
    }
}

/// Takes back what was allowed on a topic. What somebody may do through a group or as one of all stays.
///
/// - Source: `DELETE …/topics/{topicID}/acl/{verb}/{subject}`
public struct RevokeTopicAccess: KiiEndpoint {
    /// Nothing.
    public typealias Response = Void

    /// The topic.
    public var topic: Topic
    /// What is no longer allowed.
    public var verb: TopicVerb
    /// From whom it is taken.
    public var subject: AccessSubject

    /// Makes the call.
    public init(_ verb: TopicVerb, on topic: Topic, from subject: AccessSubject) {
        self.topic = topic
        self.verb = verb
        self.subject = subject
    }

    /// DELETE.
    public var method: HTTPMethod { .delete }
    /// 204; 200 is taken as well, since the status was not found in Kii's documents.
    public var successStatuses: Set<Int> { [200, 204] }

    /// The entry's path.
    public func path(in app: KiiApp) -> KiiPath { .entry(of: self.subject, for: self.verb, to: self.topic, in: app) }

    /// Refuses an ID that Kii refuses.
    public func validate() throws(KiiInputError) {
        try self.topic.validate()
        try self.subject.validate()
    }
}
