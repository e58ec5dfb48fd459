/// Reads all that is allowed on a topic.
///
/// For administrators, the owner of the topic's scope, and the topic's creator.
///
/// - Source: `GET …/topics/{topicID}/acl`; the reference gives each subject as an object with one of `userID`,
///   `groupID` and `thingID`, and the form of a path (`UserID:…`) is read as well.
public struct GetTopicAccess: KiiEndpoint {
    /// The topic.
    public var topic: Topic

    /// Makes the call.
    public init(to topic: Topic) {
        self.topic = topic
    }

    /// GET.
    public var method: HTTPMethod { .get }
    /// 200.
    public var successStatuses: Set<Int> { [200] }

    /// The topic's access control list.
    public func path(in app: KiiApp) -> KiiPath { .app(app).appending(self.topic).appending("acl") }

    /// Refuses an ID that Kii refuses.
    public func validate() throws(KiiInputError) { try self.topic.validate() }

    /// Reads the subjects of every verb.
    public func decode(_ response: KiiResponse) throws(KiiResponseError) -> TopicAccess {
        let fields = try response.fields()
        var access = TopicAccess()
        for verb in fields.names {
            var subjects: Set<AccessSubject> = []
            for element in try fields.elements(verb) { subjects.insert(try element.accessSubject()) }
            access.subjects[TopicVerb(rawValue: verb)] = subjects
        }
        return access
    }
}

/// Asks whether one entry is in a topic's access control list. It does not resolve groups.
///
/// - Source: `GET …/topics/{topicID}/acl/{verb}/{subject}`
public struct CheckTopicAccess: KiiEndpoint {
    /// The topic.
    public var topic: Topic
    /// What is done.
    public var verb: TopicVerb
    /// Who does it.
    public var subject: AccessSubject

    /// Makes the call.
    public init(of subject: AccessSubject, for verb: TopicVerb, to topic: Topic) {
        self.topic = topic
        self.verb = verb
        self.subject = subject
    }

    /// GET.
    public var method: HTTPMethod { .get }
    /// 200; 204 is taken as well.
    public var successStatuses: Set<Int> { [200, 204] }

    /// The entry's path.
    public func path(in app: KiiApp) -> KiiPath { .entry(of: self.subject, for: self.verb, to: self.topic, in: app) }

    /// Refuses an ID that Kii refuses.
    public func validate() throws(KiiInputError) {
        try self.topic.validate()
        try self.subject.validate()
    }

    /// It is there.
    public func decode(_ response: KiiResponse) throws(KiiResponseError) -> Bool { true }

    /// It is not there; a missing app, topic, user, group or thing stays an error.
    public func answer(from error: KiiError) -> Bool? {
        error.saysItIsAbsent([.aclNotFound]) ? false : nil
    }
}

extension KiiPath {
    /// Where one entry of a topic's access control list lives.
    static func entry(
        of subject: AccessSubject,
        for verb: TopicVerb,
        to topic: Topic,
        in app: KiiApp
    ) -> KiiPath {
        .app(app).appending(topic).appending("acl").appending(verb.rawValue, as: .topicVerb)
            .appending(subject.description, as: .accessSubject)
    }
}

extension KiiElement {
    fileprivate func accessSubject() throws(KiiResponseError) -> AccessSubject {
        if let text = self.string {
            guard let subject = AccessSubject(path: text) else { throw self.error(.wrongType(.object)) }
            return subject
        }
        let fields = try self.fields()
        if let id = try fields.optionalString("groupID") { return .group(id) }
        if let id = try fields.optionalString("thingID") { return .thing(id) }
        return .user(named: try fields.string("userID"))
    }
}
