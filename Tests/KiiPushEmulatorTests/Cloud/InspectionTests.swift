import KiiPushCore
import KiiPushEmulator
import Testing

@Suite struct InspectionTests {
    private static let lists = ["principals", "installations", "topics", "subscriptions", "buckets", "messages"]
    private static let message: JSONValue = ["data": ["a": "b"], "mqtt": ["enabled": true]]

    private static func world() throws -> TopicTests.World {
        var world = try TopicTests.World()
        let user = world.user
        world.kii.call("PUT", "things/\(world.thing.id)/ownership/user:\(user.id)", token: world.thing.token)
        _ = try world.kii.installation(of: user, development: true)
        world.kii.call("PUT", "users/me/topics/x", token: user.token)
        world.kii.call("POST", "users/me/topics/x/push/subscriptions/users", token: user.token)
        world.kii.call("POST", "buckets/notes/filters/all/push/subscriptions/things", token: world.thing.token)
        world.kii.call("PUT", "buckets/notes/objects/o1", token: user.token, type: "note", [:])
        return world
    }

    private static func send(_ world: inout TopicTests.World) -> String? {
        world.kii.call(
            "POST",
            "users/me/topics/x/push/messages",
            token: world.user.token,
            type: "SendPushMessageRequest",
            InspectionTests.message
        ).json["pushMessageID"]?.string
    }

    @Test func principalsAreShown() throws {
        var world = try InspectionTests.world()
        let shown = world.kii.control("GET", "principals").json
        #expect(shown["users"]?.array?.count == 3)
        let user = shown["users"]?.array?.first { $0["userID"]?.string == world.user.id }
        #expect(user == ["userID": JSONValue(world.user.id), "displayName": "owner", "disabled": false])
        #expect(
            shown["things"] == [
                [
                    "thingID": JSONValue(world.thing.id), "vendorThingID": "lamp-1",
                    "owners": [JSONValue(world.user.id)], "disabled": false,
                ]
            ]
        )
        #expect(shown["groups"]?[0]?["groupID"]?.string == world.group)
        #expect(shown["groups"]?[0]?["owner"]?.string == world.user.id)
        #expect(shown["groups"]?[0]?["members"]?.array?.count == 2)
    }

    @Test func topicsBucketsAndSubscriptionsAreShown() throws {
        var world = try InspectionTests.world()
        let topics = world.kii.control("GET", "topics").json["topics"]?.array
        #expect(topics?.count == 1)
        #expect(topics?.first?["topicID"]?.string == "x")
        #expect(topics?.first?["objectScope"]?["userID"]?.string == world.user.id)
        #expect(topics?.first?["creator"]?.string == "user:\(world.user.id)")
        #expect(topics?.first?["acl"]?["SEND_MESSAGE_TO_TOPIC"]?[0]?["userID"]?.string == world.user.id)
        #expect(topics?.first?["subscribers"]?.int64 == 1)
        #expect(
            world.kii.control("GET", "buckets").json["buckets"] == [
                [
                    "bucketID": "notes", "objectScope": ["appID": JSONValue(world.kii.app.appID), "type": "APP"],
                    "creator": JSONValue("thing:\(world.thing.id)"), "objects": 1, "subscribers": 1,
                ]
            ]
        )
        let subscriptions = world.kii.control("GET", "subscriptions").json["subscriptions"]?.array
        #expect(subscriptions?.count == 2)
        #expect(subscriptions?.contains { $0["bucketID"]?.string == "notes" && $0["thingID"] != nil } == true)
        #expect(
            subscriptions?.contains { $0["topicID"]?.string == "x" && $0["userID"]?.string == world.user.id } == true)
    }

    @Test func installationsAreShownAndWhetherTheyAreOnline() throws {
        var world = try InspectionTests.world()
        let android: JSONValue = ["deviceType": "ANDROID", "installationRegistrationID": "device"]
        world.kii.call(
            "POST", "installations", token: world.thing.token, type: "InstallationCreationRequest", android)
        func shown() -> JSONValue? {
            world.kii.control("GET", "installations").json["installations"]?.array?
                .first { $0["deviceType"]?.string == "MQTT" }
        }
        let topic = try #require(shown()?["mqttTopic"]?.string)
        #expect(shown()?["userID"]?.string == world.user.id)
        #expect(shown()?["development"]?.bool == true)
        #expect(shown()?["endpointExpiresAt"]?.isNull == true)
        #expect(shown()?["createdAt"]?.int64 == CloudHarness.start.millisecondsSinceEpoch)
        // The emulated cloud has no source of presence yet.
        #expect(shown()?["online"]?.isNull == true)
        let name = String(topic.dropFirst("push/".count))
        for (online, isOnline) in [(name, true), ("somebody", false)] {
            world.kii.cloud.presence = { [online: .init(connections: 1, changedAt: CloudHarness.start)] }
            #expect(shown()?["online"]?.bool == isOnline)
            #expect(shown()?["transport"]?.string == (isOnline ? "tcp" : nil))
        }
        world.kii.cloud.presence = { [name: .init(connections: 0, changedAt: CloudHarness.start)] }
        #expect(shown()?["online"]?.bool == false)
        let other = world.kii.control("GET", "installations").json["installations"]?.array?
            .first { $0["deviceType"]?.string == "ANDROID" }
        #expect(other?["thingID"]?.string == world.thing.id)
        #expect(other?["online"] == nil)
    }

    @Test func messagesComeInPages() throws {
        var world = try InspectionTests.world()
        let sent = (0..<5).compactMap { _ in InspectionTests.send(&world) }
        let log = world.kii.control("GET", "messages").json["messages"]?.array ?? []
        // Message 1 is the event of the object in `world()`.
        #expect(log.compactMap { $0["sequence"]?.int64 } == [1, 2, 3, 4, 5, 6])
        #expect(log.dropFirst().compactMap { $0["pushMessageID"]?.string } == sent)
        #expect(log.last?["kind"]?.string == "PUSH_TO_USER")
        #expect(log.last?["source"]?.string == "kiicloud://users/\(world.user.id)/topics/x")
        #expect(log.last?["sentAt"]?.int64 == CloudHarness.start.millisecondsSinceEpoch)
        #expect(log.last?["deliveries"] == ["mqtt": 1])
        #expect(log.last?["renderings"] == nil)
        let page = world.kii.control("GET", "messages?after=2&limit=3").json["messages"]?.array
        #expect(page?.compactMap { $0["sequence"]?.int64 } == [3, 4, 5])
        #expect(world.kii.control("GET", "messages?after=6").json["messages"]?.array?.isEmpty == true)
        for query in ["after=-1", "after=x", "limit=0", "limit=1001", "limit="] {
            #expect(world.kii.control("GET", "messages?\(query)").refusal == "400 INVALID_INPUT_DATA")
        }
        #expect(world.kii.control("GET", "messages/none").refusal == "404 MESSAGE_NOT_FOUND")
    }

    @Test func theLogKeepsAThousandMessages() throws {
        var world = try InspectionTests.world()
        for _ in 0..<2100 { _ = InspectionTests.send(&world) }
        let log = world.kii.control("GET", "messages?limit=1000").json["messages"]?.array ?? []
        #expect(log.first?["sequence"]?.int64 == 1102)
        #expect(log.last?["sequence"]?.int64 == 2101)
        #expect(log.count == 1000)
    }

    @Test func aResetForgetsTheMessagesAndNotTheirNumbers() throws {
        var world = try InspectionTests.world()
        _ = InspectionTests.send(&world)
        let last = try #require(
            world.kii.control("GET", "messages").json["messages"]?.array?.last?["sequence"]?.int64)
        #expect(world.kii.control("POST", "reset").status == 204)
        #expect(world.kii.control("GET", "messages").json == ["messages": []])
        let user = try world.kii.user()
        let message: JSONValue = ["data": ["n": 1], "mqtt": ["enabled": true]]
        let path = "users/\(user.id)/push/messages"
        let sent = world.kii.call("POST", path, token: user.token, type: "SendPushMessageRequest", message)
        #expect(sent.status == 200)
        // Numbers go on after a reset, so a client may still ask for messages after `last`.
        let next = world.kii.control("GET", "messages?after=\(last)").json["messages"]?.array
        #expect(next?.map { $0["pushMessageID"] } == [sent.json["pushMessageID"]])
        #expect(next?.first?["sequence"]?.int64 == last + 1)
    }

    @Test(
        arguments: [
            ("GET", "messages?before=1", "before"), ("GET", "messages?after=0&Limit=1", "Limit"),
            ("GET", "messages/none?after=1", "after"), ("GET", "topics?scope=APP", "scope"),
            ("GET", "faults?x", "x"), ("POST", "reset?only=messages", "only"),
            ("PATCH", "app?disabled=true", "disabled"),
        ]
    )
    func whatIsNoQueryItemIsRefused(method: String, path: String, name: String) throws {
        var world = try InspectionTests.world()
        let refused = world.kii.control(method, path)
        expectRefusal(refused, "400 INVALID_INPUT_DATA")
        #expect(refused.json["message"]?.string?.contains(" \(name) ") == true)
        #expect(world.kii.control("GET", "topics").json["topics"]?.array?.isEmpty == false)
        // Without credentials the answer is 401, whatever the query.
        expectRefusal(world.kii.send(method, "/__kii/\(path)", [], ""), "401 UNAUTHORIZED")
    }

    @Test func theLogIsBoundedInBytesToo() throws {
        var world = try InspectionTests.world()
        // JPush has no documented limit, so a message may be as large as a request.
        let text = JSONValue(String(repeating: "x", count: 900_000))
        let message: JSONValue = ["data": ["a": text], "jpush": ["enabled": true]]
        for _ in 0..<25 {
            let sent = world.kii.call(
                "POST",
                "users/me/topics/x/push/messages",
                token: world.user.token,
                type: "SendPushMessageRequest",
                message
            )
            #expect(sent.status == 200)
        }
        let log = world.kii.control("GET", "messages").json["messages"]?.array ?? []
        // 16 MiB hold 18 of the messages.
        #expect(log.count == 18)
        #expect(log.last?["sequence"]?.int64 == 26)
    }

    @Test func noSecretIsShown() throws {
        var world = try InspectionTests.world()
        let body: JSONValue = ["loginName": "alice", "password": "hunter22"]
        world.kii.call("POST", "users", type: "RegistrationRequest", body)
        _ = InspectionTests.send(&world)
        let installation = world.kii.control("GET", "installations").json["installations"]?[0]
        let id = try #require(installation?["installationID"]?.string)
        let endpoint = world.kii.call("GET", "installations/\(id)/mqtt-endpoint", token: world.user.token).json
        let secrets = [
            "hunter22", "secret", world.user.token, world.thing.token, world.admin,
            world.kii.app.clientSecret.reveal(), world.kii.app.appKey.reveal(),
            try #require(endpoint["password"]?.string),
        ]
        let message = world.kii.control("GET", "messages").json["messages"]?.array?.last?["pushMessageID"]?.string
        for list in InspectionTests.lists + ["messages/\(try #require(message))"] {
            let shown = String(decoding: world.kii.control("GET", list).response.body, as: UTF8.self)
            for secret in secrets { #expect(!shown.contains(secret), "\(list)") }
        }
    }
}
