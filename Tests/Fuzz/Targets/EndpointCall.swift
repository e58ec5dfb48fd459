import KiiPushCore

/// One call of the REST API, as far as its answers are concerned.
struct EndpointCall: Sendable {
    let operation: KiiOperation
    /// Reads an answer, and returns the moments that follow from it.
    let read: @Sendable (KiiResponse) throws(KiiResponseError) -> [Timestamp]
    /// Whether a refusal is an answer in itself.
    let answerToRefusal: @Sendable (KiiError) -> Bool

    private init<Endpoint: KiiEndpoint>(
        _ endpoint: Endpoint,
        moments: @escaping @Sendable (Endpoint.Response, Timestamp) -> [Timestamp] = { _, _ in [] }
    ) {
        self.operation = KiiOperation(method: endpoint.method, path: "/apps/app/\(Endpoint.self)")
        self.read = { response throws(KiiResponseError) in
            moments(try endpoint.decode(response), response.receivedAt)
        }
        self.answerToRefusal = { refusal in
            endpoint.answer(from: refusal) != nil || endpoint.answer(toRepetition: refusal) != nil
        }
    }
}

extension EndpointCall {
    private static let topic = Topic("t")
    private static let object = ObjectReference("o", in: Bucket("b", in: .user("u")))
    private static let target = SubscriptionTarget.topic(topic)

    /// Every call that the library has.
    static let all: [EndpointCall] = Self.accounts + Self.installations + Self.topics + Self.objects

    private static let accounts: [EndpointCall] = [
        Self(RequestToken(.user(name: "n", password: HTTPFuzzing.secret)), moments: Self.moments),
        Self(RequestToken(.thing(vendorThingID: "v", password: HTTPFuzzing.secret)), moments: Self.moments),
        Self(RequestToken(.refresh(HTTPFuzzing.secret, of: .user("u"))), moments: Self.moments),
        Self(RegisterUser(UserRegistration(loginName: "n", password: HTTPFuzzing.secret))),
        Self(RegisterPseudoUser(), moments: Self.moments),
        Self(
            RegisterThing(ThingRegistration(vendorThingID: "v", password: HTTPFuzzing.secret)),
            moments: { thing, now in [thing.createdAt].compactMap(\.self) }),
        Self(GetUser()),
        Self(GetThing(.id("th.1"))),
        Self(ChangePassword(from: HTTPFuzzing.secret, to: HTTPFuzzing.secret)),
        Self(
            OnboardThing(.byThing(vendorThingID: "v"), password: HTTPFuzzing.secret),
            moments: { thing, now in
                Self.moments(thing.accessToken, now) + Self.moments(thing.mqttEndpoint, now)
            }),
    ]

    private static let installations: [EndpointCall] = [
        Self(CreateInstallation()),
        Self(GetInstallation(.id("i"))),
        Self(ListInstallations(of: .user("u"))),
        Self(DeleteInstallation(.id("i"))),
        Self(GetMQTTEndpoint(of: "i"), moments: Self.moments),
    ]

    private static let topics: [EndpointCall] = [
        Self(CreateTopic(Self.topic)), Self(CheckTopic(Self.topic)), Self(DeleteTopic(Self.topic)),
        Self(ListTopics(in: .app)), Self(GetTopicAccess(to: Self.topic)),
        Self(CheckTopicAccess(of: .user("u"), for: .subscribe, to: Self.topic)),
        Self(GrantTopicAccess(.subscribe, on: Self.topic, to: .user("u"))),
        Self(RevokeTopicAccess(.subscribe, on: Self.topic, from: .user("u"))),
        Self(CreateSubscription(of: .user("u"), to: Self.target)),
        Self(CheckSubscription(of: .user("u"), to: Self.target)),
        Self(DeleteSubscription(of: .user("u"), to: Self.target)),
        Self(SubscribeSelf(as: .user, to: Self.target)),
        Self(SendPushMessage(PushMessage(data: ["a": 1]), to: .topic(Self.topic))),
    ]

    private static let objects: [EndpointCall] = [
        Self(CreateObject(["a": 1], in: Bucket("b")), moments: Self.moments),
        Self(GetObject(Self.object)),
        Self(PutObject(["a": 1], as: Self.object), moments: Self.moments),
        Self(PatchObject(["a": 1], of: Self.object), moments: Self.moments),
        Self(DeleteObject(Self.object)),
        Self(DeleteBucket(Bucket("b"))),
        Self(UploadObjectBody([1], of: Self.object)),
        Self(GetObjectBody(of: Self.object)),
        Self(DeleteObjectBody(of: Self.object)),
    ]

    private static func moments(_ token: AccessToken, _ now: Timestamp) -> [Timestamp] {
        _ = token.isEnding(at: now)
        return [token.expiresAt].compactMap(\.self)
    }

    private static func moments(_ endpoint: MQTTEndpoint, _ now: Timestamp) -> [Timestamp] {
        [endpoint.timeToLive.map { now + $0 }].compactMap(\.self)
    }

    private static func moments(_ object: StoredObject, _ now: Timestamp) -> [Timestamp] {
        [object.createdAt, object.modifiedAt].compactMap(\.self)
    }
}
