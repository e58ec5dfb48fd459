import KiiPushCore
import KiiPushEmulator
import Testing

@Suite struct StateTests {
    @Test func theWrittenChangesBringTheCloudBack() throws {
        var world = try TopicTests.World()
        world.kii.call("PUT", "things/\(world.thing.id)/ownership/user:\(world.user.id)", token: world.thing.token)
        let installation = try world.kii.installation(of: world.user, development: true)
        let gone = try world.kii.installation(of: world.member)
        world.kii.call("DELETE", "installations/\(gone.id)", token: world.member.token)
        for scope in ["app", "user", "group", "thing"] {
            world.kii.call("PUT", world.scope(scope).prefix + "topics/x", token: world.admin)
        }
        world.kii.call("DELETE", "groups/\(world.group)/topics/x", token: world.admin)
        world.kii.call("POST", "topics/x/push/subscriptions/users", token: world.user.token)
        let bucket = "users/\(world.user.id)/buckets/notes"
        world.kii.call("POST", "\(bucket)/filters/all/push/subscriptions/users", token: world.user.token)
        world.kii.call("PUT", "\(bucket)/objects/one", token: world.user.token, type: "note", ["a": [1, "é"]])
        let body = "\(bucket)/objects/one/body"
        world.kii.call("PUT", body, token: world.user.token, type: "bytes", ["é": 1])
        world.kii.call("PUT", "topics/x/acl/SEND_MESSAGE_TO_TOPIC/UserID:\(world.user.id)", token: world.admin)

        var rows: [String: (table: String, value: JSONValue)] = [:]
        for change in world.kii.changes {
            switch change {
            case .save(let table, let key, let value): rows["\(table) \(key)"] = (table, value)
            case .remove(let table, let key): rows["\(table) \(key)"] = nil
            case .removeAll: rows = [:]
            }
        }
        var state = CloudState()
        for row in rows.values {
            // Parses the row, as the store does after a restart.
            let isUnderstood = state.load(table: row.table, value: try JSONValue(parsing: row.value.serialized()))
            #expect(isUnderstood)
        }
        var again = CloudHarness(state: state)

        let (user, thing) = (world.user, world.thing)
        #expect(again.call("GET", "users/me", token: user.token).json["displayName"]?.string == "owner")
        #expect(again.call("GET", "things/VENDOR_THING_ID:lamp-1", token: user.token).status == 200)
        let shown = again.call("GET", "installations/\(installation.id)", token: user.token).json
        #expect(shown["development"]?.bool == true)
        let endpoint = again.call("GET", "installations/\(installation.id)/mqtt-endpoint", token: user.token)
        #expect(endpoint.json["mqttTopic"]?.string == installation.topic)
        expectRefusal(
            again.call("GET", "installations/\(gone.id)", token: world.member.token),
            "404 INSTALLATION_NOT_FOUND"
        )
        #expect(again.call("GET", "things/\(thing.id)/topics/x", token: thing.token).status == 204)
        expectRefusal(
            again.call("GET", "groups/\(world.group)/topics/x", token: world.member.token),
            "404 TOPIC_NOT_FOUND"
        )
        #expect(again.call("GET", "users/me/topics", token: user.token).json["topics"]?.array?.count == 1)
        let send: JSONValue = ["data": ["a": "b"], "mqtt": ["enabled": true]]
        let sent = again.call(
            "POST", "topics/x/push/messages", token: world.admin, type: "SendPushMessageRequest", send)
        #expect(sent.published.map { $0.topic } == [installation.topic])
        let object = again.call("GET", "\(bucket)/objects/one", token: user.token).json
        #expect(object["a"]?[1]?.string == "é")
        #expect(again.call("GET", body, token: user.token).json["é"]?.int64 == 1)
        let rights = again.call("GET", "topics/x/acl", token: world.admin).json
        #expect(rights["SEND_MESSAGE_TO_TOPIC"]?[0]?["userID"]?.string == user.id)
        #expect(rights["SUBSCRIBE_TO_TOPIC"]?.array?.count == 1)
        let changed = again.call("PATCH", "\(bucket)/objects/one", token: user.token, type: "note", [:])
        #expect(changed.published.count == 1)
    }

    @Test(arguments: [
        "user", "thing", "group", "token", "installation", "topic", "bucket", "subscription", "object", "body",
        "command",
    ])
    func aDamagedRowIsRefused(table: String) {
        var state = CloudState()
        let isUnderstood = state.load(table: table, value: ["id": 7])
        #expect(!isUnderstood)
    }

    @Test func aTopicOfAStateWithoutRightsHasThoseOfANewOne() throws {
        var state = CloudState()
        let isUnderstood = state.load(table: "topic", value: ["scope": "", "id": "x", "creator": "admin"])
        #expect(isUnderstood)
        var kii = CloudHarness(state: state)
        let rights = kii.call("GET", "topics/x/acl", token: try kii.admin()).json
        #expect(rights["SUBSCRIBE_TO_TOPIC"]?[0]?["userID"]?.string == "ANY_AUTHENTICATED_USER")
        #expect(rights["SEND_MESSAGE_TO_TOPIC"]?.array?.isEmpty == true)
    }

    @Test func aRowOfAnUnknownKindIsRefused() {
        var state = CloudState()
        let isUnderstood = state.load(table: "future", value: [:])
        #expect(!isUnderstood)
    }

    @Test func readingAsksForNoWriting() throws {
        var world = try TopicTests.World()
        let before = world.kii.changes.count
        world.kii.call("GET", "users/me", token: world.user.token)
        world.kii.call("GET", "topics", token: world.user.token)
        world.kii.call("PUT", "topics/x", token: world.user.token)
        #expect(world.kii.changes.count == before)
    }
}
