import KiiPushCore
import KiiPushEmulator
import Testing

@Suite struct PayloadTests {
    private typealias World = TopicTests.World
    private static let when = CloudHarness.start.millisecondsSinceEpoch

    private static func text(_ outcome: Outcome) throws -> String {
        let publication = try #require(outcome.effects.publications.first)
        return String(decoding: publication.payload, as: UTF8.self)
    }

    /// A world with an installation for each account and the topic `x` in every scope.
    private static func world() throws -> World {
        var world = try World()
        for account in [world.user, world.member, world.thing] { _ = try world.kii.installation(of: account) }
        for scope in ["app", "user", "group", "thing"] {
            world.kii.call("PUT", world.scope(scope).prefix + "topics/x", token: world.admin)
        }
        return world
    }

    @Test func aUsersTopicSaysWhoAndWhere() throws {
        var world = try PayloadTests.world()
        let (id, app) = (world.user.id, world.kii.app.appID)
        world.kii.call("POST", "users/me/topics/x/push/subscriptions/users", token: world.user.token)
        let outcome = world.kii.call(
            "POST",
            "users/me/topics/x/push/messages",
            token: world.user.token,
            type: "SendPushMessageRequest",
            ["data": ["msg": "hi"], "mqtt": ["enabled": true]]
        )
        #expect(
            try PayloadTests.text(outcome) == """
                {"msg":"hi","sender":"\(id)","senderURI":"kiicloud://users/\(id)",\
                "sourceURI":"kiicloud://users/\(id)/topics/x","topic":"x","objectScopeAppID":"\(app)",\
                "objectScopeType":"APP_AND_USER","objectScopeUserID":"\(id)"}
                """
        )
    }

    @Test func theAppsTopicSaysAllThatIsAskedFor() throws {
        var world = try PayloadTests.world()
        let app = world.kii.app.appID
        world.kii.call("POST", "topics/x/push/subscriptions/users", token: world.user.token)
        let outcome = world.kii.call(
            "POST",
            "topics/x/push/messages",
            token: world.admin,
            type: "SendPushMessageRequest",
            [
                "data": ["msg": "all"], "mqtt": ["enabled": true], "sendWhen": true, "sendOrigin": true,
                "sendAppID": true, "pushMessageType": "NEWS",
            ]
        )
        // The administrator has no `sender`.
        #expect(
            try PayloadTests.text(outcome) == """
                {"msg":"all","senderURI":"kiicloud://admins/APP_ADMIN","sourceURI":"kiicloud://topics/x","topic":"x",\
                "objectScopeAppID":"\(app)","objectScopeType":"APP","when":\(PayloadTests.when),\
                "origin":"EXPLICIT","appID":"\(app)","type":"NEWS"}
                """
        )
    }

    @Test func nothingIsSaidThatIsNotAskedFor() throws {
        var world = try PayloadTests.world()
        world.kii.call("POST", "topics/x/push/subscriptions/users", token: world.user.token)
        let outcome = world.kii.call(
            "POST",
            "topics/x/push/messages",
            token: world.admin,
            type: "SendPushMessageRequest",
            [
                "data": ["msg": "all"], "mqtt": ["enabled": true], "sendSender": false, "sendTopicID": false,
                "sendObjectScope": false,
            ]
        )
        #expect(try PayloadTests.text(outcome) == #"{"msg":"all","sourceURI":"kiicloud://topics/x"}"#)
    }

    @Test func aThingsTopicNamesTheThing() throws {
        var world = try PayloadTests.world()
        let (id, app) = (world.thing.id, world.kii.app.appID)
        let topic = "things/VENDOR_THING_ID:lamp-1/topics/x"
        world.kii.call("POST", "\(topic)/push/subscriptions/things", token: world.thing.token)
        let outcome = world.kii.call(
            "POST",
            "\(topic)/push/messages",
            token: world.thing.token,
            type: "SendPushMessageRequest",
            ["data": ["level": 3], "mqtt": ["enabled": true]]
        )
        #expect(
            try PayloadTests.text(outcome) == """
                {"level":3,"sender":"\(id)","senderURI":"kiicloud://things/\(id)",\
                "sourceURI":"kiicloud://things/\(id)/topics/x","topic":"x","objectScopeAppID":"\(app)",\
                "objectScopeType":"APP_AND_THING","objectScopeThingID":"\(id)"}
                """
        )
    }

    @Test func aGroupsTopicNamesTheGroup() throws {
        var world = try PayloadTests.world()
        let topic = "groups/\(world.group)/topics/x"
        world.kii.call("POST", "\(topic)/push/subscriptions/users", token: world.member.token)
        let outcome = world.kii.call(
            "POST",
            "\(topic)/push/messages",
            token: world.user.token,
            type: "SendPushMessageRequest",
            ["data": ["msg": "team"], "mqtt": ["enabled": true]]
        )
        let payload = try #require(outcome.published.first?.payload)
        #expect(payload["objectScopeType"]?.string == "APP_AND_GROUP")
        #expect(payload["objectScopeGroupID"]?.string == world.group)
        #expect(payload["sourceURI"]?.string == "kiicloud://groups/\(world.group)/topics/x")
        #expect(payload["sender"]?.string == world.user.id)
    }

    @Test func aDirectPushHasNoSenderScopeOrTopic() throws {
        var world = try PayloadTests.world()
        let outcome = world.kii.call(
            "POST",
            "users/\(world.user.id)/push/messages",
            token: world.admin,
            type: "SendPushMessageRequest",
            ["data": ["a_key": "v", "n": 1.50], "mqtt": ["enabled": true], "sendWhen": true]
        )
        #expect(
            try PayloadTests.text(outcome) == """
                {"a_key":"v","n":1.5,"sourceURI":"kiicloud://users/\(world.user.id)",\
                "senderURI":"kiicloud://admins/APP_ADMIN","when":\(PayloadTests.when)}
                """
        )
    }

    @Test func ofAKeyThatKiiWritesKiisValueStandsAndOthersPass() throws {
        var world = try PayloadTests.world()
        let outcome = world.kii.call(
            "POST",
            "users/\(world.user.id)/push/messages",
            token: world.admin,
            type: "SendPushMessageRequest",
            ["data": ["senderURI": "spoofed", "bucketID": "mine"], "mqtt": ["enabled": true]]
        )
        #expect(
            try PayloadTests.text(outcome) == """
                {"bucketID":"mine","sourceURI":"kiicloud://users/\(world.user.id)",\
                "senderURI":"kiicloud://admins/APP_ADMIN"}
                """
        )
    }

    @Test func anObjectsEventHasASenderButNoSenderURI() throws {
        var world = try PayloadTests.world()
        let (id, app, when) = (world.user.id, world.kii.app.appID, PayloadTests.when)
        let bucket = "users/me/buckets/notes"
        world.kii.call("POST", "\(bucket)/filters/all/push/subscriptions/users", token: world.user.token)
        let outcome = world.kii.call(
            "PUT",
            "\(bucket)/objects/obj-1",
            token: world.user.token,
            type: "note",
            ["text": "x"]
        )
        #expect(
            try PayloadTests.text(outcome) == """
                {"type":"DATA_OBJECT_CREATED","origin":"EVENT","when":\(when),"modifiedAt":\(when),\
                "appID":"\(app)","sender":"\(id)","objectScopeAppID":"\(app)","objectScopeType":"APP_AND_USER",\
                "objectScopeUserID":"\(id)","bucketID":"notes","bucketType":"rw","objectID":"obj-1",\
                "sourceURI":"kiicloud://users/\(id)/buckets/notes/objects/obj-1"}
                """
        )
    }

    @Test func aDeletionHasNoTimeOfModification() throws {
        var world = try PayloadTests.world()
        let (thing, app) = (world.thing, world.kii.app.appID)
        world.kii.call("POST", "buckets/shared/filters/all/push/subscriptions/things", token: thing.token)
        world.kii.call("PUT", "buckets/shared/objects/obj-2", token: thing.token, type: "note", [:])
        let outcome = world.kii.call("DELETE", "buckets/shared/objects/obj-2", token: thing.token)
        #expect(outcome.status == 204)
        #expect(
            try PayloadTests.text(outcome) == """
                {"type":"DATA_OBJECT_DELETED","origin":"EVENT","when":\(PayloadTests.when),"appID":"\(app)",\
                "sender":"\(thing.id)","objectScopeAppID":"\(app)","objectScopeType":"APP","bucketID":"shared",\
                "bucketType":"rw","objectID":"obj-2","sourceURI":"kiicloud://buckets/shared/objects/obj-2"}
                """
        )
    }
}
