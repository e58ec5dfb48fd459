import KiiPushCore
import KiiPushEmulator
import Testing

@Suite struct ObjectTests {
    @Test(arguments: ["app", "user", "me", "group", "thing", "vendor"])
    func anObjectIsCreatedChangedAndDeletedAndEachIsAnEvent(scope: String) throws {
        var world = try TopicTests.World()
        let isThing = scope == "thing" || scope == "vendor"
        let actor = scope == "group" ? world.member : isThing ? world.thing : world.user
        _ = try world.kii.installation(of: actor)
        let bucket = world.scope(scope).prefix + "buckets/notes"
        let subscriber = isThing ? "things" : "users"
        world.kii.call("POST", "\(bucket)/filters/all/push/subscriptions/\(subscriber)", token: actor.token)
        func events(_ outcome: Outcome) -> [String?] { outcome.published.map { $0.payload["type"]?.string } }

        let created = world.kii.call("POST", "\(bucket)/objects", token: actor.token, type: "note", ["a": 1, "b": 2])
        #expect(created.status == 201)
        #expect(created.type == "application/vnd.kii.ObjectCreationResponse+json")
        #expect(events(created) == ["DATA_OBJECT_CREATED"])
        let path = "\(bucket)/objects/\(try #require(created.json["objectID"]?.string))"

        world.kii.now = CloudHarness.start + .seconds(1)
        let patched = world.kii.call("PATCH", path, token: actor.token, type: "note", ["b": 3])
        #expect(patched.status == 200)
        #expect(patched.json["modifiedAt"]?.int64 == world.kii.now.millisecondsSinceEpoch)
        #expect(events(patched) == ["DATA_OBJECT_UPDATED"])
        let shown = world.kii.call("GET", path, token: actor.token).json
        #expect(shown["a"]?.int64 == 1)
        #expect(shown["b"]?.int64 == 3)
        #expect(shown["_version"]?.string == "2")

        let replaced = world.kii.call("PUT", path, token: actor.token, type: "note", ["c": 4])
        #expect(events(replaced) == ["DATA_OBJECT_UPDATED"])
        #expect(world.kii.call("GET", path, token: actor.token).json["a"] == nil)

        #expect(events(world.kii.call("DELETE", path, token: actor.token)) == ["DATA_OBJECT_DELETED"])
        expectRefusal(world.kii.call("DELETE", path, token: actor.token), "404 OBJECT_NOT_FOUND")
        expectRefusal(world.kii.call("PATCH", path, token: actor.token, type: "note", [:]), "404 OBJECT_NOT_FOUND")
    }

    @Test func whoIsNotSubscribedIsNotTold() throws {
        var world = try TopicTests.World()
        _ = try world.kii.installation(of: world.user)
        let created = world.kii.call("POST", "buckets/notes/objects", token: world.user.token, type: "note", [:])
        #expect(created.status == 201)
        #expect(created.published.isEmpty)
    }

    @Test func foreignScopesAndObjectsAreClosed() throws {
        var world = try TopicTests.World()
        let (user, stranger) = (world.user, world.stranger)
        let foreign = "users/\(user.id)/buckets/notes/objects"
        expectRefusal(
            world.kii.call("POST", foreign, token: stranger.token, type: "note", [:]),
            "401 UNAUTHORIZED"
        )
        world.kii.call("PUT", "buckets/notes/objects/one", token: user.token, type: "note", [:])
        let path = "buckets/notes/objects/one"
        expectRefusal(world.kii.call("PUT", path, token: stranger.token, type: "note", [:]), "401 UNAUTHORIZED")
        expectRefusal(world.kii.call("DELETE", path, token: stranger.token), "401 UNAUTHORIZED")
        #expect(world.kii.call("GET", path, token: stranger.token).status == 200)
        #expect(world.kii.call("DELETE", path, token: world.admin).status == 204)
    }

    /// Kii's guide on securing data: anonymous callers may read objects in the app's scope only.
    @Test func whoIsAnonymousReadsInTheAppsScope() throws {
        var world = try TopicTests.World()
        for scope in ["", "users/\(world.user.id)/"] {
            let path = "\(scope)buckets/notes/objects/one"
            world.kii.call("PUT", path, token: world.user.token, type: "note", ["a": 1])
            world.kii.call("PUT", "\(path)/body", token: world.user.token, type: "note", ["a": 1])
            for each in [path, "\(path)/body"] {
                let answer = world.kii.call("GET", each)
                if scope.isEmpty { #expect(answer.status == 200) } else { expectRefusal(answer, "401 UNAUTHORIZED") }
            }
            expectRefusal(world.kii.call("PUT", path, type: "note", [:]), "401 UNAUTHORIZED")
            expectRefusal(world.kii.call("DELETE", path), "401 UNAUTHORIZED")
        }
    }

    /// From a live test of Kii's Java client.
    @Test func anObjectNeedsNoMediaType() throws {
        var world = try TopicTests.World()
        let path = "buckets/notes/objects/one"
        let created = world.kii.call("PUT", path, token: world.user.token, ["a": 1])
        #expect(created.status == 201)
        #expect(created.json["dataType"]?.string == "application/json")
        #expect(world.kii.call("PUT", path, token: world.user.token, ["a": 2]).status == 200)
    }

    @Test func anIDWithASlashIsRefused() throws {
        var world = try TopicTests.World()
        let path = "buckets/notes/objects/a%2Fb"
        let outcome = world.kii.call("PUT", path, token: world.user.token, type: "note", [:])
        expectRefusal(outcome, "400 INVALID_OBJECT_ID")
    }
}
