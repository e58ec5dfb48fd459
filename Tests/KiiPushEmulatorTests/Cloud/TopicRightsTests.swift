import KiiPushCore
import KiiPushEmulator
import Testing

@Suite struct TopicRightsTests {
    typealias World = TopicTests.World

    private static let message: JSONValue = ["data": ["a": "b"], "mqtt": ["enabled": true]]

    private static func text(_ outcome: Outcome) -> String { outcome.json.text }

    @Test(arguments: ["app", "user", "me", "group", "thing", "vendor"])
    func aTopicComesWithTheRightsOfItsScope(scope: String) throws {
        var world = try World()
        let (prefix, token) = world.scope(scope)
        world.kii.call("PUT", prefix + "topics/x", token: token)
        let outcome = world.kii.call("GET", prefix + "topics/x/acl", token: token)
        #expect(outcome.status == 200)
        #expect(outcome.type == "application/vnd.kii.ACLRetrievalResponse+json")
        let holder =
            switch scope {
            case "user", "me": #"[{"userID":"\#(world.user.id)"}]"#
            // A member who created the topic keeps the right after leaving the group.
            case "group": #"[{"groupID":"\#(world.group)"},{"userID":"\#(world.member.id)"}]"#
            case "thing", "vendor": #"[{"thingID":"\#(world.thing.id)"}]"#
            default: "[]"
            }
        let subscribers = scope == "app" ? #"[{"userID":"ANY_AUTHENTICATED_USER"}]"# : holder
        #expect(
            TopicRightsTests.text(outcome)
                == #"{"SUBSCRIBE_TO_TOPIC":\#(subscribers),"SEND_MESSAGE_TO_TOPIC":\#(holder)}"#
        )
    }

    @Test(arguments: ["SUBSCRIBE_TO_TOPIC", "SEND_MESSAGE_TO_TOPIC"], ["UserID", "GroupID", "ThingID"])
    func aRightIsGrantedFoundAndTakenBack(verb: String, kind: String) throws {
        var world = try World()
        world.kii.call("PUT", "topics/x", token: world.admin)
        let id = kind == "UserID" ? world.user.id : kind == "GroupID" ? world.group : world.thing.id
        let path = "topics/x/acl/\(verb)/\(kind):\(id)"
        let missing = world.kii.call("GET", path, token: world.admin)
        expectRefusal(missing, "404 ACL_NOT_FOUND")
        #expect(missing.json["topicID"]?.string == "x")
        #expect(missing.json["subject"]?.string == "\(kind):\(id)")
        #expect(world.kii.call("PUT", path, token: world.admin).status == 204)
        let found = world.kii.call("GET", path, token: world.admin)
        #expect(found.status == 200)
        #expect(found.type == "application/vnd.kii.ACLSubjectRetrievalResponse+json")
        #expect(found.json[kind.prefix(1).lowercased() + kind.dropFirst()]?.string == id)
        #expect(world.kii.call("DELETE", path, token: world.admin).status == 204)
        expectRefusal(world.kii.call("DELETE", path, token: world.admin), "404 ACL_NOT_FOUND")
    }

    @Test(
        arguments: [
            "SUBSCRIBE_TO_TOPIC/UserID:ANONYMOUS_USER", "SUBSCRIBE_TO_TOPIC/UserID:", "SUBSCRIBE_TO_TOPIC/me",
            "READ_EXISTING_OBJECT/UserID:ANY_AUTHENTICATED_USER",
        ]
    )
    func whatIsNoRightIsRefused(entry: String) throws {
        var world = try World()
        world.kii.call("PUT", "topics/x", token: world.admin)
        for method in ["GET", "PUT", "DELETE"] {
            let outcome = world.kii.call(method, "topics/x/acl/\(entry)", token: world.admin)
            expectRefusal(outcome, "400 INVALID_INPUT_DATA")
        }
    }

    @Test func theCreatorTheScopesOwnerAndTheAdministratorManage() throws {
        var world = try World()
        world.kii.call("PUT", "users/me/topics/x", token: world.user.token)
        world.kii.call("PUT", "groups/\(world.group)/topics/x", token: world.member.token)
        world.kii.call("PUT", "groups/\(world.group)/topics/y", token: world.user.token)
        let (ofUser, ofGroup) = ("users/\(world.user.id)/topics/x/acl", "groups/\(world.group)/topics/x/acl")
        for (path, token) in [
            (ofUser, world.user.token), (ofUser, world.admin), (ofGroup, world.member.token),
            (ofGroup, world.user.token), (ofGroup, world.admin),
        ] {
            #expect(world.kii.call("GET", path, token: token).status == 200)
        }
        for (path, token) in [
            (ofUser, world.stranger.token), (ofUser, world.thing.token), (ofGroup, world.stranger.token),
            ("groups/\(world.group)/topics/y/acl", world.member.token),
        ] {
            expectRefusal(world.kii.call("GET", path, token: token), "401 UNAUTHORIZED")
            let entry = path + "/SUBSCRIBE_TO_TOPIC/UserID:\(world.stranger.id)"
            for method in ["GET", "PUT", "DELETE"] {
                expectRefusal(world.kii.call(method, entry, token: token), "401 UNAUTHORIZED")
            }
        }
    }

    @Test func aRightToSendIsARightToSend() throws {
        var world = try World()
        world.kii.call("PUT", "topics/news", token: world.admin)
        func send(_ token: String) -> Outcome {
            world.kii.call(
                "POST",
                "topics/news/push/messages",
                token: token,
                type: "SendPushMessageRequest",
                TopicRightsTests.message
            )
        }
        expectRefusal(send(world.user.token), "401 UNAUTHORIZED")
        let entry = "topics/news/acl/SEND_MESSAGE_TO_TOPIC/GroupID:\(world.group)"
        world.kii.call("PUT", entry, token: world.admin)
        #expect(send(world.user.token).status == 200)
        #expect(send(world.member.token).status == 200)
        expectRefusal(send(world.stranger.token), "401 UNAUTHORIZED")
        expectRefusal(send(world.thing.token), "401 UNAUTHORIZED")
        world.kii.call("DELETE", entry, token: world.admin)
        expectRefusal(send(world.user.token), "401 UNAUTHORIZED")
        #expect(send(world.admin).status == 200)
    }

    @Test func aRightToSubscribeOpensTheTopicAndNothingElse() throws {
        var world = try World()
        let (stranger, base) = (world.stranger, "users/\(world.user.id)/topics")
        for name in ["shown", "hidden"] { world.kii.call("PUT", "\(base)/\(name)", token: world.user.token) }
        func subscribe(_ name: String) -> Outcome {
            world.kii.call("POST", "\(base)/\(name)/push/subscriptions/users", token: stranger.token)
        }
        expectRefusal(subscribe("shown"), "401 UNAUTHORIZED")
        expectRefusal(world.kii.call("GET", base, token: stranger.token), "401 UNAUTHORIZED")
        world.kii.call("PUT", "\(base)/shown/acl/SUBSCRIBE_TO_TOPIC/UserID:\(stranger.id)", token: world.user.token)
        #expect(subscribe("shown").status == 204)
        expectRefusal(subscribe("hidden"), "401 UNAUTHORIZED")
        #expect(world.kii.call("GET", "\(base)/shown", token: stranger.token).status == 204)
        expectRefusal(world.kii.call("GET", "\(base)/hidden", token: stranger.token), "401 UNAUTHORIZED")
        let listed = world.kii.call("GET", base, token: stranger.token).json["topics"]?.array
        #expect(listed?.compactMap { $0["topicID"]?.string } == ["shown"])
        // The stranger receives messages and still may not send.
        let mqttTopic = try world.kii.installation(of: stranger).topic
        let path = "\(base)/shown/push/messages"
        let sent = world.kii.call(
            "POST", path, token: world.user.token, type: "SendPushMessageRequest", TopicRightsTests.message)
        #expect(sent.published.map { $0.topic } == [mqttTopic])
        expectRefusal(
            world.kii.call(
                "POST", path, token: stranger.token, type: "SendPushMessageRequest", TopicRightsTests.message),
            "401 UNAUTHORIZED"
        )
    }

    @Test func anAppsTopicCanBeClosed() throws {
        var world = try World()
        world.kii.call("PUT", "topics/x", token: world.admin)
        world.kii.call("DELETE", "topics/x/acl/SUBSCRIBE_TO_TOPIC/UserID:ANY_AUTHENTICATED_USER", token: world.admin)
        let path = "topics/x/push/subscriptions/users"
        expectRefusal(world.kii.call("POST", path, token: world.user.token), "401 UNAUTHORIZED")
        #expect(world.kii.call("GET", "topics", token: world.user.token).json["topics"]?.array?.isEmpty == true)
        // The administrator may subscribe anybody.
        #expect(world.kii.call("PUT", "\(path)/\(world.user.id)", token: world.admin).status == 204)
    }

    @Test func usersAreFoundByTheirAddress() throws {
        var world = try World()
        let body: JSONValue = [
            "loginName": "alice", "emailAddress": "alice@example.com", "phoneNumber": "+818012345678",
            "password": "secret",
        ]
        let id = world.kii.call("POST", "users", type: "RegistrationRequest", body).json["userID"]?.string
        world.kii.call("PUT", "users/\(try #require(id))/topics/x", token: world.admin)
        for address in ["LOGIN_NAME:alice", "EMAIL:alice@example.com", "PHONE:%2B818012345678", "PHONE:+818012345678"] {
            #expect(world.kii.call("GET", "users/\(address)/topics/x", token: world.admin).status == 204)
            #expect(world.kii.call("GET", "users/\(address)/topics/x/acl", token: world.admin).status == 200)
            let listed = world.kii.call("GET", "users/\(address)/topics", token: world.admin).json["topics"]?.array
            #expect(listed?.count == 1)
        }
        let missing = world.kii.call("GET", "users/EMAIL:bob@example.com/topics/x", token: world.admin)
        expectRefusal(missing, "404 USER_NOT_FOUND")
        #expect(missing.json["value"]?.string == "bob@example.com")
    }
}
