import KiiPushCore
import KiiPushEmulator
import Testing

@Suite struct SubscriptionTests {
    typealias World = TopicTests.World

    private static func world() throws -> World {
        var world = try World()
        for scope in ["app", "user", "group", "thing"] {
            world.kii.call("PUT", world.scope(scope).prefix + "topics/x", token: world.admin)
        }
        return world
    }

    @Test(
        arguments: ["topics/x/push/subscriptions", "buckets/notes/filters/all/push/subscriptions"],
        ["app", "user", "me", "group", "thing", "vendor"]
    )
    func aSubscriptionIsMadeFoundAndEnded(target: String, scope: String) throws {
        var world = try SubscriptionTests.world()
        let isThing = scope == "thing" || scope == "vendor"
        let token = scope == "app" ? world.user.token : world.scope(scope).token
        let subscriber = scope == "group" ? world.member : isThing ? world.thing : world.user
        let base = world.scope(scope).prefix + target
        let path = "\(base)/\(isThing ? "things" : "users")/\(subscriber.id)"
        if target.hasPrefix("topics") {
            expectRefusal(world.kii.call("GET", path, token: token), "404 PUSH_SUBSCRIPTION_NOT_FOUND")
        } else {
            expectRefusal(world.kii.call("GET", path, token: token), "404 FILTER_NOT_FOUND")
        }
        let made = world.kii.call("PUT", path, token: token)
        #expect(made.status == 204)
        #expect(made.response.body.isEmpty)
        let repeated = world.kii.call("PUT", path, token: token)
        expectRefusal(repeated, "409 PUSH_SUBSCRIPTION_ALREADY_EXISTS")
        #expect(repeated.json["subject"]?.string == "\(isThing ? "ThingID" : "UserID"):\(subscriber.id)")
        #expect(repeated.json["objectScope"]?["type"]?.string?.hasPrefix("APP") == true)
        for method in ["GET", "HEAD"] { #expect(world.kii.call(method, path, token: token).status == 204) }
        #expect(world.kii.call("DELETE", path, token: token).status == 204)
        expectRefusal(world.kii.call("DELETE", path, token: token), "404 PUSH_SUBSCRIPTION_NOT_FOUND")
    }

    /// Kii's reference creates a missing bucket; Kii's guide refuses the subscription.
    @Test(arguments: [false, true])
    func aBucketThatIsNotThereIsMadeUnlessStrict(strict: Bool) throws {
        var kii = CloudHarness(strict: strict)
        let user = try kii.user()
        let path = "buckets/notes/filters/all/push/subscriptions/users/\(user.id)"
        let outcome = kii.call("PUT", path, token: user.token)
        #expect(outcome.refusal == (strict ? "404 FILTER_NOT_FOUND" : "204 "))
        kii.call("PUT", "buckets/notes/objects/one", token: user.token, type: "note", [:])
        #expect(kii.call("PUT", path, token: user.token).status == (strict ? 204 : 409))
    }

    @Test(arguments: ["POST", "PUT"], ["topics/x", "buckets/notes/filters/all"])
    func oneselfNeedsNoID(method: String, target: String) throws {
        var world = try SubscriptionTests.world()
        let base = "\(target)/push/subscriptions"
        #expect(world.kii.call(method, "\(base)/users", token: world.user.token).status == 204)
        #expect(world.kii.call(method, "\(base)/things", token: world.thing.token).status == 204)
        #expect(world.kii.call("GET", "\(base)/users/\(world.user.id)", token: world.user.token).status == 204)
        #expect(world.kii.call("GET", "\(base)/things/\(world.thing.id)", token: world.thing.token).status == 204)
        expectRefusal(world.kii.call(method, "\(base)/users", token: world.thing.token), "401 UNAUTHORIZED")
        expectRefusal(world.kii.call(method, "\(base)/things", token: world.user.token), "401 UNAUTHORIZED")
        expectRefusal(world.kii.call(method, "\(base)/users", token: world.admin), "401 UNAUTHORIZED")
    }

    @Test func anUnsubscriptionNeedsTheID() throws {
        var world = try SubscriptionTests.world()
        let path = "topics/x/push/subscriptions/users"
        expectRefusal(world.kii.call("DELETE", path, token: world.user.token), "405 METHOD_NOT_ALLOWED")
    }

    @Test func nobodySubscribesAnotherOrWhereTheyDoNotBelong() throws {
        var world = try SubscriptionTests.world()
        let (user, stranger, thing) = (world.user, world.stranger, world.thing)
        let refused = [
            ("topics/x/push/subscriptions/users/\(user.id)", stranger.token),
            ("users/\(user.id)/topics/x/push/subscriptions/users/\(stranger.id)", stranger.token),
            ("groups/\(world.group)/topics/x/push/subscriptions/users/\(stranger.id)", stranger.token),
            ("things/\(thing.id)/topics/x/push/subscriptions/users/\(stranger.id)", stranger.token),
            // Kii's guide for things: a thing subscribes only in its own scope and the app's.
            ("users/\(user.id)/buckets/notes/filters/all/push/subscriptions/things/\(thing.id)", thing.token),
        ]
        for (path, token) in refused {
            expectRefusal(world.kii.call("PUT", path, token: token), "401 UNAUTHORIZED")
        }
        let path = "topics/x/push/subscriptions/users/\(user.id)"
        #expect(world.kii.call("PUT", path, token: world.admin).status == 204)
        expectRefusal(world.kii.call("GET", path, token: stranger.token), "401 UNAUTHORIZED")
        expectRefusal(world.kii.call("DELETE", path, token: stranger.token), "401 UNAUTHORIZED")
    }

    @Test func aDeletedTopicTakesItsSubscriptionsAlong() throws {
        var world = try SubscriptionTests.world()
        let path = "topics/x/push/subscriptions/users/\(world.user.id)"
        world.kii.call("PUT", path, token: world.user.token)
        world.kii.call("DELETE", "topics/x", token: world.admin)
        expectRefusal(world.kii.call("GET", path, token: world.user.token), "404 TOPIC_NOT_FOUND")
        world.kii.call("PUT", "topics/x", token: world.admin)
        expectRefusal(world.kii.call("GET", path, token: world.user.token), "404 PUSH_SUBSCRIPTION_NOT_FOUND")
    }
}
