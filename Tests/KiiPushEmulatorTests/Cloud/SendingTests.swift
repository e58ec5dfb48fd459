import KiiPushCore
import KiiPushEmulator
import Testing

@Suite struct SendingTests {
    private static let type = "SendPushMessageRequest"

    /// A user with an installation, subscribed to the app's topic `news`.
    struct World {
        var kii = CloudHarness()
        let user: CloudHarness.Account
        let admin: String
        let mqttTopic: String

        init(development: Bool = false) throws {
            self.user = try self.kii.user()
            self.admin = try self.kii.admin()
            self.mqttTopic = try self.kii.installation(of: self.user, development: development).topic
            self.kii.call("PUT", "topics/news", token: self.admin)
            self.kii.call("POST", "topics/news/push/subscriptions/users", token: self.user.token)
        }

        mutating func send(_ body: JSONValue, to path: String = "topics/news") -> Outcome {
            self.kii.call("POST", "\(path)/push/messages", token: self.admin, type: SendingTests.type, body)
        }
    }

    @Test func aSendReachesTheSubscribersInstallation() throws {
        var world = try World()
        let outcome = world.send(["data": ["msg": "hi"], "mqtt": ["enabled": true]])
        #expect(outcome.status == 200)
        #expect(outcome.type == "application/vnd.kii.SendPushMessageResponse+json")
        #expect(outcome.json["pushMessageID"]?.string?.isEmpty == false)
        #expect(outcome.published.map { $0.topic } == [world.mqttTopic])
        #expect(outcome.published.first?.payload["msg"]?.string == "hi")
    }

    @Test func aSendReachesEverySubscriberAndNobodyElse() throws {
        var world = try World()
        let (second, third) = (try world.kii.user(), try world.kii.user())
        let topic = try world.kii.installation(of: second).topic
        _ = try world.kii.installation(of: third)
        world.kii.call("POST", "topics/news/push/subscriptions/users", token: second.token)
        let outcome = world.send(["data": ["msg": "hi"], "mqtt": ["enabled": true]])
        #expect(Set(outcome.published.map { $0.topic }) == [world.mqttTopic, topic])
    }

    @Test(
        arguments: [
            (false, #"{"sendToProduction":false}"#, 0), (false, #"{"sendToDevelopment":false}"#, 1),
            (true, #"{"sendToProduction":false}"#, 1), (true, #"{"sendToDevelopment":false}"#, 0),
            (true, #"{}"#, 1), (false, #"{}"#, 1),
        ]
    )
    func theKindOfInstallationDecides(isDevelopment: Bool, flags: String, count: Int) throws {
        var world = try World(development: isDevelopment)
        let message: [(String, JSONValue)] = [("data", ["msg": "hi"]), ("mqtt", ["enabled": true])]
        let extra = try JSONValue(parsing: flags).members?.map { ($0.key, $0.value) } ?? []
        let outcome = world.send(.object(message + extra))
        #expect(outcome.status == 200)
        #expect(outcome.published.count == count)
    }

    @Test func onlyTheSectionForMQTTIsDelivered() throws {
        var world = try World()
        for body: JSONValue in [
            ["data": ["msg": "hi"], "apns": ["enabled": true]],
            ["data": ["msg": "hi"], "apns": ["enabled": true], "mqtt": ["enabled": false]],
        ] {
            let outcome = world.send(body)
            #expect(outcome.status == 200)
            #expect(outcome.published.isEmpty)
        }
    }

    @Test func theSectionsDataIsMergedOverTheCommonData() throws {
        var world = try World()
        let outcome = world.send([
            "data": ["msg": "mqtt test", "only": 1],
            "mqtt": ["enabled": true, "data": ["msg": "mqtt body", "own": true]],
        ])
        let payload = try #require(outcome.published.first?.payload)
        #expect(payload["msg"]?.string == "mqtt body")
        #expect(payload["only"]?.int64 == 1)
        #expect(payload["own"]?.bool == true)
    }

    @Test(
        arguments: [
            #"{"data":{"a":"b"},"mqtt":{}}"#, #"{"data":{"a":"b"},"mqtt":{"enabled":"yes"}}"#,
            #"{"mqtt":{"enabled":true}}"#, #"{"data":{"a":[1]},"mqtt":{"enabled":true}}"#,
            #"{"data":{"a":"b"},"mqtt":{"enabled":true,"data":{"a":{}}}}"#,
            #"{"data":{"a":"b"},"gcm":{"enabled":true,"data":{"a":1}}}"#,
            #"{"data":{"a":"b"},"fcm":{"enabled":true,"data":{"a":true}}}"#,
            #"{"data":{"a":"b"},"gcm":{"enabled":true,"dryRun":true},"apns":{"enabled":true}}"#,
            #"{"data":{"google.x":"b"},"gcm":{"enabled":true}}"#, #"{"data":{"from":"b"},"gcm":{"enabled":true}}"#,
            #"{"data":{"gcm.x":"b"},"fcm":{"enabled":true}}"#, #"{"data":{"priority":"b"},"fcm":{"enabled":true}}"#,
        ]
    )
    func illegalMessagesAreRefused(body: String) throws {
        var world = try World()
        expectRefusal(world.send(try JSONValue(parsing: body)), "400 INVALID_INPUT_DATA")
    }

    @Test(arguments: ["topic", "type", "sender", "senderURI", "bucketID", "objectScopeUserID", "when"])
    func onlyStrictRefusesKeysThatKiiWrites(key: String) throws {
        let data = JSONValue.object([(key, "mine")])
        for isStrict in [false, true] {
            var kii = CloudHarness(strict: isStrict)
            let user = try kii.user()
            _ = try kii.installation(of: user)
            for message: JSONValue in [
                ["data": data, "mqtt": ["enabled": true]], ["mqtt": ["enabled": true, "data": data]],
                ["data": data, "apns": ["enabled": true]],
            ] {
                let path = "users/me/push/messages"
                let sent = kii.call("POST", path, token: user.token, type: "SendPushMessageRequest", message)
                let isForMQTT = message["mqtt"] != nil
                #expect(sent.status == (isStrict && isForMQTT ? 400 : 200), "\(message)")
                guard !isStrict, isForMQTT else { continue }
                // Among these keys, Kii writes only `senderURI` into a direct push; the rest keep the sender's value.
                let isOverwritten = key == "senderURI"
                #expect((sent.published.first?.payload[key]?.string == "mine") == !isOverwritten)
            }
        }
    }

    @Test func anotherNetworksReservedKeysAreFreeForMQTT() throws {
        var world = try World()
        let body = #"{"data":{"from":"b","google.x":"c"},"mqtt":{"enabled":true}}"#
        #expect(world.send(try JSONValue(parsing: body)).published.first?.payload["from"]?.string == "b")
    }

    @Test(
        arguments: [
            ("mqtt", 4096), ("gcm", 4096), ("fcm", 4096), ("apns", 2048),
        ]
    )
    func aMessageHasALimit(network: String, limit: Int) throws {
        var world = try World()
        func outcome(_ bytes: Int) -> Outcome {
            let text = JSONValue(String(repeating: "x", count: bytes))
            return world.send(
                .object([
                    ("data", ["a": text]), (network, JSONValue.object(["enabled": true])),
                    ("sendSender", false),
                    ("sendObjectScope", false), ("sendTopicID", false),
                ])
            )
        }
        // The rendered message without the text.
        let around =
            switch network {
            case "mqtt": #"{"a":"","sourceURI":"kiicloud://topics/news"}"#
            case "apns": #"{"aps":{},"a":""}"#
            default: #"{"a":""}"#
            }
        #expect(outcome(limit - around.utf8.count).status == 200)
        expectRefusal(outcome(limit - around.utf8.count + 1), "400 INVALID_INPUT_DATA")
    }

    @Test func onlyTheRightPeopleSend() throws {
        var world = try World()
        let stranger = try world.kii.user()
        let body: JSONValue = ["data": ["a": "b"], "mqtt": ["enabled": true]]
        world.kii.call("PUT", "users/me/topics/own", token: world.user.token)
        func send(_ path: String, _ token: String) -> Outcome {
            world.kii.call("POST", path, token: token, type: SendingTests.type, body)
        }
        let ofUser = "users/\(world.user.id)/topics/own/push/messages"
        expectRefusal(send("topics/news/push/messages", world.user.token), "401 UNAUTHORIZED")
        expectRefusal(send(ofUser, stranger.token), "401 UNAUTHORIZED")
        #expect(send(ofUser, world.user.token).status == 200)
        #expect(send(ofUser, world.admin).status == 200)
        let direct = "users/\(world.user.id)/push/messages"
        expectRefusal(send(direct, stranger.token), "401 UNAUTHORIZED")
        #expect(send(direct, world.admin).published.map { $0.topic } == [world.mqttTopic])
        #expect(send("users/me/push/messages", world.user.token).published.map { $0.topic } == [world.mqttTopic])
    }

    @Test func aThingGetsNoDirectPush() throws {
        var world = try World()
        let body: JSONValue = ["data": ["a": "b"], "mqtt": ["enabled": true]]
        let thing = try world.kii.thing()
        expectRefusal(world.send(body, to: "things/\(thing.id)"), "404 RESOURCE_NOT_FOUND")
    }
}
