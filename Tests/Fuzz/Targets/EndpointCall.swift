import Foundation
import KiiPushCore

/// One call of the REST API, for checking its handling of answers.
struct EndpointCall: Sendable {
    /// Makes the call, and returns the times that its answer leads to.
    private let make: @Sendable (KiiSession) async throws -> [Timestamp]

    private init<Answer>(
        _ make: @escaping @Sendable (KiiSession) async throws -> Answer,
        moments: @escaping @Sendable (Answer) -> [Timestamp] = { _ in [] }
    ) {
        self.make = { session in moments(try await make(session)) }
    }

    /// Answers every request at once, but drops the first answer if asked to.
    private struct Transport: HTTPTransport {
        let answer: HTTPResponse
        let losesNext: Locked<Bool>

        func perform(_ request: HTTPRequest) async throws -> HTTPResponse {
            let isLost = self.losesNext.withLock { losesNext in
                defer { losesNext = false }
                return losesNext
            }
            if isLost { throw TransportError(.connectionLost, detail: "lost") }
            return self.answer
        }
    }

    /// Makes the call to a cloud that gives this answer at this time.
    ///
    /// - Parameter isRepetition: whether the first answer is lost, so that the call repeats its request.
    func perform(
        _ answer: HTTPResponse, at now: Timestamp, isRepetition: Bool = false
    ) -> Result<[Timestamp], any Error> {
        let client = KiiClient(
            app: KiiApp(appID: "app", appKey: HTTPFuzzing.secret, baseURL: "https://cloud.test/api"),
            transport: Transport(answer: answer, losesNext: Locked(isRepetition)),
            retry: isRepetition ? RetryPolicy(maximumRequests: 2, firstDelay: .zero) : .none, now: { now })
        let session = KiiSession(
            client: client,
            token: AccessToken(principal: .user("u"), token: HTTPFuzzing.secret, refreshToken: HTTPFuzzing.secret))
        let (done, result) = (DispatchSemaphore(value: 0), Locked<Result<[Timestamp], any Error>>(.success([])))
        Task {
            do {
                let moments = try await self.make(session)
                result.withLock { $0 = .success(moments) }
            } catch {
                result.withLock { $0 = .failure(error) }
            }
            done.signal()
        }
        done.wait()
        return result.withLock { $0 }
    }
}

extension EndpointCall {
    private static let topic = Topic("t")
    private static let object = ObjectReference("o", in: Bucket("b", in: .user("u")))
    private static let target = SubscriptionTarget.topic(topic)

    static let all: [EndpointCall] = Self.accounts + Self.onboarding + Self.installations + Self.topics + Self.objects

    private static let accounts: [EndpointCall] = [
        Self({ try await $0.client.login(.user(name: "n", password: HTTPFuzzing.secret)) }, moments: Self.moments),
        Self(
            { try await $0.client.login(.thing(vendorThingID: "v", password: HTTPFuzzing.secret)) },
            moments: Self.moments),
        Self({ try await $0.client.login(.anonymous) }, moments: Self.moments),
        Self(
            { try await $0.client.login(.administrator(clientID: "c", clientSecret: HTTPFuzzing.secret)) },
            moments: Self.moments),
        Self({ try await $0.client.refresh($0.token()) }, moments: Self.moments),
        Self { try await $0.client.registerUser(UserRegistration(loginName: "name", password: HTTPFuzzing.secret)) },
        Self({ try await $0.client.registerPseudoUser() }, moments: Self.moments),
        Self(
            { try await $0.client.registerThing(ThingRegistration(vendorThingID: "v", password: HTTPFuzzing.secret)) },
            moments: { thing in [thing.createdAt].compactMap(\.self) }),
        Self { try await $0.user() },
        Self { try await $0.thing(.id("th.1")) },
        Self { try await $0.changePassword(from: HTTPFuzzing.secret, to: HTTPFuzzing.secret) },
        Self(
            { session in
                let thing = try await session.client.onboardThing(vendorThingID: "v", password: HTTPFuzzing.secret)
                return (thing, session.client.now())
            },
            moments: { thing, now in
                Self.moments(thing.accessToken) + [thing.mqttEndpoint.timeToLive.map { now + $0 }].compactMap(\.self)
            }),
    ]

    private static let onboarding: [EndpointCall] = [
        Self {
            try await $0.onboardThing(vendorThingID: "v", password: HTTPFuzzing.secret, owner: .user("u"))
        },
        Self { try await $0.onboardThing(thingID: "th.1", password: HTTPFuzzing.secret, owner: .user("u")) },
    ]

    private static let installations: [EndpointCall] = [
        Self { try await $0.createInstallation() },
        Self { try await $0.installation(.id("i")) },
        Self { try await $0.installations(of: .user("u")).all() },
        Self { try await $0.deleteInstallation(.id("i")) },
        Self(
            { session in (try await session.mqttEndpoint(of: "i"), session.client.now()) },
            moments: { endpoint, now in [endpoint.timeToLive.map { now + $0 }].compactMap(\.self) }),
    ]

    private static let topics: [EndpointCall] = [
        Self { try await $0.createTopic(Self.topic) },
        Self { try await $0.topicExists(Self.topic) },
        Self { try await $0.deleteTopic(Self.topic) },
        Self { try await $0.topics(in: .app).all() },
        Self { try await $0.access(to: Self.topic) },
        Self { try await $0.isGranted(.subscribe, on: Self.topic, to: .user("u")) },
        Self { try await $0.grant(.subscribe, on: Self.topic, to: .user("u")) },
        Self { try await $0.revoke(.subscribe, on: Self.topic, from: .user("u")) },
        Self { try await $0.subscribe(to: Self.target) },
        Self { try await $0.isSubscribed(to: Self.target) },
        Self { try await $0.unsubscribe(from: Self.target) },
        Self { try await $0.send(PushMessage(data: ["a": 1]), to: .topic(Self.topic)) },
    ]

    private static let objects: [EndpointCall] = [
        Self({ try await $0.createObject(["a": 1], in: Bucket("b")) }, moments: Self.moments),
        Self { try await $0.object(Self.object) },
        Self({ try await $0.putObject(["a": 1], as: ObjectReference("o-1", in: Bucket("b"))) }, moments: Self.moments),
        Self({ try await $0.patchObject(["a": 1], of: Self.object) }, moments: Self.moments),
        Self { try await $0.deleteObject(Self.object) },
        Self { try await $0.deleteBucket(Bucket("b")) },
        Self { try await $0.uploadBody([1], of: Self.object) },
        Self { try await $0.body(of: Self.object) },
        Self { try await $0.deleteBody(of: Self.object) },
    ]

    private static func moments(_ token: AccessToken) -> [Timestamp] { [token.expiresAt].compactMap(\.self) }

    private static func moments(_ object: StoredObject) -> [Timestamp] {
        [object.createdAt, object.modifiedAt].compactMap(\.self)
    }
}
