import KiiPushCore
import KiiPushEmulator
import Testing

@Suite struct BucketTests {
    /// A user with an installation, subscribed to the bucket `notes` in a scope.
    private struct World {
        var all: TopicTests.World
        let bucket: String
        let token: String
        let mqttTopic: String

        init(_ scope: String) throws {
            var all = try TopicTests.World()
            let isThing = scope == "thing" || scope == "vendor"
            let actor = scope == "group" ? all.member : isThing ? all.thing : all.user
            self.bucket = all.scope(scope).prefix + "buckets/notes"
            self.token = actor.token
            self.mqttTopic = try all.kii.installation(of: actor).topic
            let kind = isThing ? "things" : "users"
            all.kii.call("POST", "\(self.bucket)/filters/all/push/subscriptions/\(kind)", token: actor.token)
            all.kii.call("PUT", "\(self.bucket)/objects/one", token: actor.token, type: "note", ["a": 1])
            self.all = all
        }

        mutating func call(_ method: String, _ path: String, token: String? = nil) -> Outcome {
            self.all.kii.call(method, path, token: token ?? self.token)
        }

        mutating func upload(_ body: String, mediaType: String? = "image/png", token: String? = nil) -> Outcome {
            var fields = [HTTPField("Authorization", "Bearer \(token ?? self.token)")]
            if let mediaType { fields.append(HTTPField("Content-Type", mediaType)) }
            let path = "/apps/\(self.all.kii.app.appID)/\(self.bucket)/objects/one/body"
            return self.all.kii.raw("PUT", path, fields, body)
        }
    }

    @Test(arguments: ["app", "user", "me", "group", "thing", "vendor"])
    func aBodyIsUploadedReadAndDeletedAndEachChangeIsAnEvent(scope: String) throws {
        var world = try World(scope)
        let path = "\(world.bucket)/objects/one/body"
        expectRefusal(world.call("GET", path), "404 OBJECT_BODY_NOT_FOUND")
        world.all.kii.now = CloudHarness.start + .seconds(1)
        let now = world.all.kii.now.millisecondsSinceEpoch
        let uploaded = world.upload("first\u{0}")
        #expect(uploaded.status == 200)
        #expect(uploaded.type == "application/vnd.kii.ObjectBodyUploadResponse+json")
        #expect(uploaded.json["modifiedAt"]?.int64 == now)
        let event = try #require(uploaded.published.first)
        #expect(event.topic == world.mqttTopic)
        #expect(event.payload["type"]?.string == "DATA_OBJECT_BODY_UPDATED")
        #expect(event.payload["modifiedAt"]?.int64 == now)
        #expect(event.payload["objectID"]?.string == "one")
        #expect(event.payload["sourceURI"]?.string?.hasSuffix("/objects/one") == true)
        #expect(world.upload("second").response.field("ETag") == "\"2\"")

        let read = world.call("GET", path)
        #expect(read.status == 200)
        #expect(read.response.body == Array("second".utf8))
        #expect(read.type == "image/png")
        #expect(world.call("HEAD", path).status == 200)
        #expect(world.call("GET", "\(world.bucket)/objects/one").json["_modified"]?.int64 == now)

        let deleted = world.call("DELETE", path)
        #expect(deleted.status == 204)
        #expect(deleted.published.first?.payload["type"]?.string == "DATA_OBJECT_BODY_DELETED")
        let again = world.call("DELETE", path)
        expectRefusal(again, "404 OBJECT_BODY_NOT_FOUND")
        #expect(again.json["objectID"]?.string == "one")
        #expect(again.json["bucketID"]?.string == "notes")
    }

    @Test(arguments: [nil, ""])
    func aBodyWithoutAMediaTypeIsBytes(mediaType: String?) throws {
        var world = try World("app")
        #expect(world.upload("", mediaType: mediaType).status == 200)
        let read = world.call("GET", "\(world.bucket)/objects/one/body")
        #expect(read.type == "application/octet-stream")
        #expect(read.response.body.isEmpty)
    }

    @Test func aBodyGoesWithItsObject() throws {
        var world = try World("me")
        _ = world.upload("bytes")
        let deleted = world.call("DELETE", "users/me/buckets/notes/objects/one")
        #expect(deleted.published.map { $0.payload["type"]?.string } == ["DATA_OBJECT_DELETED"])
        expectRefusal(world.call("GET", "users/me/buckets/notes/objects/one/body"), "404 OBJECT_NOT_FOUND")
        world.all.kii.call("PUT", "users/me/buckets/notes/objects/one", token: world.token, type: "note", [:])
        expectRefusal(world.call("GET", "users/me/buckets/notes/objects/one/body"), "404 OBJECT_BODY_NOT_FOUND")
    }

    @Test func onlyWhoMayChangeTheObjectChangesItsBody() throws {
        var world = try World("app")
        let stranger = world.all.stranger.token
        expectRefusal(world.upload("x", token: stranger), "401 UNAUTHORIZED")
        _ = world.upload("x")
        let path = "\(world.bucket)/objects/one/body"
        #expect(world.call("GET", path, token: stranger).status == 200)
        expectRefusal(world.call("DELETE", path, token: stranger), "401 UNAUTHORIZED")
    }

    @Test(arguments: ["app", "user", "me", "group", "thing", "vendor"])
    func aDeletedBucketIsOneEventAndTakesAllAlong(scope: String) throws {
        var world = try World(scope)
        _ = world.upload("bytes")
        let deleted = world.call("DELETE", world.bucket)
        #expect(deleted.status == 204)
        let events = deleted.published
        #expect(events.map { $0.topic } == [world.mqttTopic])
        let payload = try #require(events.first?.payload)
        #expect(payload["type"]?.string == "BUCKET_DELETED")
        #expect(payload["bucketID"]?.string == "notes")
        #expect(payload["objectID"] == nil)
        #expect(payload["modifiedAt"] == nil)
        #expect(payload["sourceURI"]?.string?.hasSuffix("buckets/notes") == true)
        let again = world.call("DELETE", world.bucket)
        expectRefusal(again, "404 BUCKET_NOT_FOUND")
        #expect(again.json["bucketID"]?.string == "notes")
        #expect(again.json["objectScope"]?["type"]?.string?.hasPrefix("APP") == true)
        expectRefusal(world.call("GET", "\(world.bucket)/objects/one"), "404 OBJECT_NOT_FOUND")
        // The recreated bucket has neither the objects nor the subscribers of the deleted one.
        let path = "\(world.bucket)/objects/one"
        #expect(world.all.kii.call("PUT", path, token: world.token, type: "note", [:]).published.isEmpty)
        expectRefusal(world.call("GET", "\(path)/body"), "404 OBJECT_BODY_NOT_FOUND")
    }

    @Test func anAppsBucketIsItsCreatorsAndTheAdministrators() throws {
        var world = try World("app")
        expectRefusal(world.call("DELETE", "buckets/notes", token: world.all.stranger.token), "401 UNAUTHORIZED")
        expectRefusal(
            world.call("DELETE", "users/\(world.all.user.id)/buckets/notes", token: world.all.stranger.token),
            "401 UNAUTHORIZED"
        )
        #expect(world.call("DELETE", "buckets/notes", token: world.all.admin).status == 204)
    }

    @Test(arguments: ["n", "no%20tes", "users", "things", "devices", "installations", "internal"])
    func illegalNamesAreRefused(name: String) throws {
        var world = try World("app")
        expectRefusal(world.call("DELETE", "buckets/\(name)"), "400 INVALID_BUCKET")
    }
}
