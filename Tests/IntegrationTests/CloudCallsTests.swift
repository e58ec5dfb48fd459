import KiiPushCore
import KiiPushEmulator
import TestSupport
import Testing

@Suite struct CloudCallsTests {
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
            try await client.session(cast.admin).createTopic(topic)
            let refused = await #expect(throws: KiiError.self) {
                try await client.session(cast.user.token).send(message, to: .topic(topic))
            }
            #expect(refused?.status == 401)
            let subject = AccessSubject.user(cast.userID)
            #expect(try await !client.session(cast.admin).isGranted(.send, on: topic, to: subject))
            #expect(try await client.session(cast.admin).grant(.send, on: topic, to: subject) == true)
            #expect(try await client.session(cast.admin).grant(.send, on: topic, to: subject) == false)
            let strict = await #expect(throws: KiiError.self) {
                try await client.session(cast.admin).grant(.send, on: topic, to: subject, acceptsExisting: false)
            }
            #expect(strict?.errorCode == KiiErrorCode.aclAlreadyExists)
            #expect(try await client.session(cast.admin).isGranted(.send, on: topic, to: subject))
            let access = try await client.session(cast.admin).access(to: topic)
            #expect(access[.send]?.contains(subject) == true)
            #expect(access[.subscribe]?.contains(.anyAuthenticatedUser) == true)
            try await client.session(cast.user.token).send(message, to: .topic(topic))
            try await client.session(cast.admin).revoke(.send, on: topic, from: subject)
            let absent = await #expect(throws: KiiError.self) {
                try await client.session(cast.admin).revoke(.send, on: topic, from: subject)
            }
            #expect(absent?.errorCode == KiiErrorCode.aclNotFound)
            await #expect(throws: KiiError.self) {
                try await client.session(cast.user.token).send(message, to: .topic(topic))
            }
        }
    }

    @Test func whoeverHoldsATokenSubscribesItself() async throws {
        try await self.withCast { cast in
            let (client, target) = (cast.client, SubscriptionTarget.topic(Topic("news")))
            try await client.session(cast.admin).createTopic(Topic("news"))
            let user = Principal.user(cast.userID)
            #expect(try await !client.session(cast.user.token).isSubscribed(to: target, as: user))
            let session = KiiSession(client: client, token: cast.user)
            #expect(try await session.subscribe(to: target))
            #expect(try await client.session(cast.user.token).isSubscribed(to: target, as: user))
            #expect(try await !session.subscribe(to: target))
        }
    }

    @Test func anObjectLivesWithItsBodyAndDiesWithItsBucket() async throws {
        try await self.withCast { cast in
            let (client, token) = (cast.client, cast.user.token)
            let bucket = Bucket("notes", in: .user(cast.userID))
            let reference = try await client.session(token).createObject(["a": 1, "b": 2], in: bucket).reference
            let patched = try await client.session(token).patchObject(["b": "x"], of: reference)
            #expect(patched.createdAt != nil && patched.modifiedAt != nil)
            let object = try await client.session(token).object(reference)
            #expect(object["a"] == 1 && object["b"] == "x" && object["_id"] == JSONValue(reference.id))
            let bytes = (0...255).map { UInt8($0) }
            try await client.session(token).uploadBody(bytes, mediaType: "image/png", of: reference)
            let body = try await client.session(token).body(of: reference)
            #expect(body.bytes == bytes)
            #expect(body.mediaType == "image/png")
            try await client.session(token).deleteBody(of: reference)
            let noBody = await #expect(throws: KiiError.self) {
                try await client.session(token).deleteBody(of: reference)
            }
            #expect(noBody?.errorCode == "OBJECT_BODY_NOT_FOUND")
            try await client.session(token).deleteBucket(bucket)
            let noObject = await #expect(throws: KiiError.self) { try await client.session(token).object(reference) }
            #expect(noObject?.status == 404)
            let noBucket = await #expect(throws: KiiError.self) { try await client.session(token).deleteBucket(bucket) }
            #expect(noBucket?.errorCode == KiiErrorCode.bucketNotFound)
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
            let endpoint = try await client.session(first.accessToken.token).mqttEndpoint(of: installationID)
            #expect(endpoint.mqttTopic == first.mqttEndpoint.mqttTopic && endpoint.host == first.mqttEndpoint.host)
            let owner = ThingOwner.user(cast.userID)
            let owned = try await client.session(token).onboardThing(
                vendorThingID: "v-1", password: "pass", owner: owner)
            let known = try await client.session(token).onboardThing(
                thingID: first.thingID, password: "pass", owner: owner)
            for again in [owned, known] {
                #expect(again.thingID == first.thingID)
                #expect(again.mqttEndpoint.installationID == installationID)
                try await client.session(again.accessToken.token).createTopic(Topic("own", in: .thing(first.thingID)))
            }
            let wrong = await #expect(throws: KiiError.self) {
                try await client.onboardThing(vendorThingID: "v-1", password: "other")
            }
            #expect(wrong?.status == 401)
            let unknown = await #expect(throws: KiiError.self) {
                try await client.session(token).onboardThing(thingID: "th.none", password: "pass", owner: owner)
            }
            #expect(unknown?.errorCode == "THING_NOT_FOUND")
        }
    }
}
