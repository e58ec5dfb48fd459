import KiiPushCore
import KiiPushEmulator
import TestSupport
import Testing

/// Calls of the client over a real connection to a real emulator.
@Suite struct CloudCallsTests {
    /// A client, its app's administrator and a user.
    private struct Cast {
        var client: KiiClient
        var admin: Secret
        var user: AccessToken

        var userID: String { self.user.principal?.id ?? "" }
    }

    private func withCast(_ body: (Cast) async throws -> Void) async throws {
        try await withEmulator { emulator, directory in
            let runtime = try emulator.runtime("\(directory)/agent")
            let client = runtime.client(for: emulator.app)
            let user = try await client.registerPseudoUser()
            try await body(Cast(client: client, admin: try await emulator.adminToken(client), user: user))
            await runtime.shutdown()
        }
    }

    @Test func accessToATopicIsGrantedUsedAndRevoked() async throws {
        try await self.withCast { cast in
            let (client, topic) = (cast.client, Topic("news"))
            let message = PushMessage(data: ["a": 1])
            try await client.createTopic(topic, token: cast.admin)
            let refused = await #expect(throws: KiiError.self) {
                try await client.send(message, to: topic, token: cast.user.token)
            }
            #expect(refused?.status == 401)
            let subject = AccessSubject.user(cast.userID)
            #expect(try await !client.isGranted(.send, on: topic, to: subject, token: cast.admin))
            #expect(try await client.grant(.send, on: topic, to: subject, token: cast.admin) == .granted)
            #expect(try await client.grant(.send, on: topic, to: subject, token: cast.admin) == .alreadyGranted)
            let strict = await #expect(throws: KiiError.self) {
                try await client.grantStrictly(.send, on: topic, to: subject, token: cast.admin)
            }
            #expect(strict?.errorCode == .aclAlreadyExists)
            #expect(try await client.isGranted(.send, on: topic, to: subject, token: cast.admin))
            let access = try await client.access(to: topic, token: cast.admin)
            #expect(access[.send].contains(subject))
            #expect(access[.subscribe].contains(.anyAuthenticatedUser))
            try await client.send(message, to: topic, token: cast.user.token)
            try await client.revoke(.send, on: topic, from: subject, token: cast.admin)
            let absent = await #expect(throws: KiiError.self) {
                try await client.revoke(.send, on: topic, from: subject, token: cast.admin)
            }
            #expect(absent?.errorCode == .aclNotFound)
            await #expect(throws: KiiError.self) { try await client.send(message, to: topic, token: cast.user.token) }
        }
    }

    @Test func whoeverHoldsATokenSubscribesItself() async throws {
        try await self.withCast { cast in
            let (client, target) = (cast.client, SubscriptionTarget.topic(Topic("news")))
            try await client.createTopic(Topic("news"), token: cast.admin)
            let user = Principal.user(cast.userID)
            #expect(try await !client.isSubscribed(user, to: target, token: cast.user.token))
            #expect(try await client.subscribeSelf(as: .user, to: target, token: cast.user.token) == .subscribed)
            #expect(try await client.isSubscribed(user, to: target, token: cast.user.token))
            #expect(try await client.subscribeSelf(as: .user, to: target, token: cast.user.token) == .alreadySubscribed)
            await #expect(throws: KiiError.self) {
                try await client.subscribeSelf(as: .thing, to: target, token: cast.user.token)
            }
        }
    }

    @Test func anObjectLivesWithItsBodyAndDiesWithItsBucket() async throws {
        try await self.withCast { cast in
            let (client, token) = (cast.client, cast.user.token)
            let bucket = Bucket("notes", in: .user(cast.userID))
            let reference = try await client.createObject(["a": 1, "b": 2], in: bucket, token: token).reference
            let patched = try await client.patchObject(["b": "x"], of: reference, token: token)
            #expect(patched.createdAt != nil && patched.modifiedAt != nil)
            let object = try await client.object(reference, token: token)
            #expect(object["a"] == 1 && object["b"] == "x" && object["_id"] == JSONValue(reference.id))
            let bytes = (0...255).map { UInt8($0) }
            try await client.uploadBody(bytes, mediaType: "image/png", of: reference, token: token)
            let body = try await client.body(of: reference, token: token)
            #expect(body == ObjectBody(bytes: bytes, mediaType: "image/png"))
            try await client.deleteBody(of: reference, token: token)
            let noBody = await #expect(throws: KiiError.self) {
                try await client.deleteBody(of: reference, token: token)
            }
            #expect(noBody?.errorCode == .objectBodyNotFound)
            try await client.deleteBucket(bucket, token: token)
            let noObject = await #expect(throws: KiiError.self) { try await client.object(reference, token: token) }
            #expect(noObject?.status == 404)
            let noBucket = await #expect(throws: KiiError.self) { try await client.deleteBucket(bucket, token: token) }
            #expect(noBucket?.errorCode == .bucketNotFound)
        }
    }

    @Test func aThingIsOnboardedInEveryWay() async throws {
        try await self.withCast { cast in
            let (client, token) = (cast.client, cast.user.token)
            let description = ThingDescription(thingType: "lamp", firmwareVersion: "1.0", properties: ["floor": 2])
            let first = try await client.onboardThing(vendorThingID: "v-1", password: "pass", description: description)
            #expect(first.accessToken.principal == .thing(first.thingID))
            #expect(first.mqttEndpoint.timeToLive != nil)
            let installationID = first.mqttEndpoint.installationID
            let endpoint = try await client.mqttEndpoint(of: installationID, token: first.accessToken.token)
            #expect(endpoint.mqttTopic == first.mqttEndpoint.mqttTopic && endpoint.host == first.mqttEndpoint.host)
            let owner = ThingOwner.user(cast.userID)
            let owned = try await client.onboardThing(
                vendorThingID: "v-1", password: "pass", owner: owner, token: token)
            let known = try await client.onboardThing(
                thingID: first.thingID, password: "pass", owner: owner, token: token)
            for again in [owned, known] {
                #expect(again.thingID == first.thingID)
                #expect(again.mqttEndpoint.installationID == installationID)
                try await client.createTopic(
                    Topic("own", in: .thing(first.thingID)), token: again.accessToken.token)
            }
            let wrong = await #expect(throws: KiiError.self) {
                try await client.onboardThing(vendorThingID: "v-1", password: "other")
            }
            #expect(wrong?.status == 401)
            let unknown = await #expect(throws: KiiError.self) {
                try await client.onboardThing(thingID: "th.none", password: "pass", owner: owner, token: token)
            }
            #expect(unknown?.errorCode == .thingNotFound)
        }
    }
}
