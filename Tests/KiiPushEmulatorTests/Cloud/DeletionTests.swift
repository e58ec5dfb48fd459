import KiiPushCore
import KiiPushEmulator
import Testing

@Suite struct DeletionTests {
    private typealias World = TopicTests.World

    /// A user and a thing with one of everything, in their own scope and elsewhere.
    private static func world() throws -> World {
        var world = try World()
        let (user, thing) = (world.user, world.thing)
        world.kii.call("PUT", "things/\(thing.id)/ownership/user:\(user.id)", token: world.admin)
        world.kii.call("PUT", "topics/news", token: world.admin)
        let right = "topics/news/acl/SEND_MESSAGE_TO_TOPIC"
        for (account, kind) in [(user, "User"), (thing, "Thing")] {
            let (scope, base) = ("\(kind.lowercased())s/\(account.id)", "push/subscriptions/\(kind.lowercased())s")
            world.kii.call("PUT", "\(right)/\(kind)ID:\(account.id)", token: world.admin)
            world.kii.call("PUT", "\(scope)/topics/x", token: account.token)
            world.kii.call("POST", "\(scope)/topics/x/\(base)", token: account.token)
            world.kii.call("PUT", "\(scope)/buckets/notes/objects/one", token: account.token, type: "note", [:])
            world.kii.call("PUT", "\(scope)/buckets/notes/objects/one/body", token: account.token, type: "note", [:])
            world.kii.call("POST", "\(scope)/buckets/notes/filters/all/\(base)", token: account.token)
            world.kii.call("POST", "topics/news/\(base)", token: account.token)
            world.kii.call("POST", "buckets/shared/filters/all/\(base)", token: account.token)
        }
        return world
    }

    /// The tables of the rows that the cloud removed and saved after change number `count`.
    private static func changes(_ world: World, since count: Int) -> (removed: [String], saved: [String]) {
        var (removed, saved): ([String], [String]) = ([], [])
        for change in world.kii.changes[count...] {
            switch change {
            case .remove(let table, _): removed.append(table)
            case .save(let table, _, _): saved.append(table)
            case .removeAll: Issue.record("everything was removed")
            }
        }
        return (removed.sorted(), saved.sorted())
    }

    private static let whatIsOwn = [
        "body", "bucket", "installation", "installation", "object", "subscription", "subscription", "subscription",
        "subscription", "token", "topic",
    ]

    @Test(arguments: ["id", "me", "admin"])
    func aUserGoesWithAllOfTheirOwn(way: String) throws {
        var world = try DeletionTests.world()
        let user = world.user
        let installation = try world.kii.installation(of: user)
        let android: JSONValue = ["deviceType": "ANDROID", "installationRegistrationID": "device"]
        world.kii.call("POST", "installations", token: user.token, type: "InstallationCreationRequest", android)
        let before = world.kii.changes.count
        let path = way == "me" ? "users/me" : "users/\(user.id)"
        let deleted = world.kii.call("DELETE", path, token: way == "admin" ? world.admin : user.token)
        #expect(deleted.status == 204)
        #expect(deleted.published.isEmpty)
        #expect(deleted.effects.revocations == [String(installation.topic.dropFirst("push/".count))])
        let changes = DeletionTests.changes(world, since: before)
        #expect(changes.removed == DeletionTests.whatIsOwn + ["user"])
        // The group loses the member, the thing its owner, and the topic the user's right.
        #expect(changes.saved == ["group", "thing", "topic"])

        expectRefusal(world.kii.call("GET", "users/me", token: user.token), "403 WRONG_TOKEN")
        expectRefusal(world.kii.call("GET", path, token: user.token), "403 WRONG_TOKEN")
        expectRefusal(world.kii.call("GET", "users/\(user.id)/topics", token: world.admin), "404 USER_NOT_FOUND")
        expectRefusal(world.kii.call("DELETE", "users/\(user.id)", token: world.admin), "404 USER_NOT_FOUND")
        let group = world.kii.call("GET", "groups/\(world.group)", token: world.member.token).json
        #expect(group["owner"]?.string == user.id)
        let members = world.kii.call("GET", "groups/\(world.group)/members", token: world.member.token).json
        #expect(members == ["members": [["userID": JSONValue(world.member.id)]]])
        let shown = world.kii.control("GET", "principals").json
        #expect(shown["things"]?[0]?["owners"]?.array?.isEmpty == true)
    }

    @Test func aThingGoesWithAllOfItsOwn() throws {
        for way in ["thing", "owner", "admin"] {
            var world = try DeletionTests.world()
            let thing = world.thing
            let installation = try world.kii.installation(of: thing)
            let android: JSONValue = ["deviceType": "ANDROID", "installationRegistrationID": "device"]
            world.kii.call("POST", "installations", token: thing.token, type: "InstallationCreationRequest", android)
            let commands = "/thing-if/apps/\(world.kii.app.appID)/targets/thing:\(thing.id)/commands"
            let fields = [
                HTTPField("Authorization", "Bearer \(thing.token)"), HTTPField("Content-Type", "application/json"),
            ]
            let command = #"{"actions":[{"on":{}}],"issuer":"user:\#(world.user.id)","schema":"S","schemaVersion":1}"#
            #expect(world.kii.send("POST", commands, fields, command).status == 201)
            let before = world.kii.changes.count
            let tokens = ["thing": thing.token, "owner": world.user.token, "admin": world.admin]
            let deleted = world.kii.call("DELETE", "things/VENDOR_THING_ID:lamp-1", token: tokens[way])
            #expect(deleted.status == 204)
            #expect(deleted.published.isEmpty)
            #expect(deleted.effects.revocations == [String(installation.topic.dropFirst("push/".count))])
            let changes = DeletionTests.changes(world, since: before)
            #expect(changes.removed == (DeletionTests.whatIsOwn + ["command", "thing"]).sorted())
            #expect(changes.saved == ["topic"])

            expectRefusal(world.kii.call("GET", "things/\(thing.id)", token: thing.token), "403 WRONG_TOKEN")
            expectRefusal(world.kii.call("GET", "things/\(thing.id)", token: world.admin), "404 THING_NOT_FOUND")
            #expect(world.kii.call("GET", "users/me", token: world.user.token).status == 200)
            let login: JSONValue = ["username": "VENDOR_THING_ID:lamp-1", "password": "secret"]
            let refused = world.kii.call("POST", "oauth2/token", type: "OauthTokenRequest", login)
            let unknown = world.kii.call(
                "POST", "oauth2/token", type: "OauthTokenRequest",
                ["username": "VENDOR_THING_ID:x-fake", "password": "secret"])
            #expect(refused.refusal == unknown.refusal)
            // The vendor's ID is free again.
            #expect(try world.kii.thing("lamp-1").id != thing.id)
        }
    }

    @Test func nobodyDeletesAnother() throws {
        var world = try DeletionTests.world()
        for token in [world.member.token, world.thing.token] {
            expectRefusal(world.kii.call("DELETE", "users/\(world.user.id)", token: token), "401 UNAUTHORIZED")
        }
        // The owner of a group cannot delete its members either.
        expectRefusal(
            world.kii.call("DELETE", "users/\(world.member.id)", token: world.user.token), "401 UNAUTHORIZED")
        expectRefusal(
            world.kii.call("DELETE", "things/\(world.thing.id)", token: world.stranger.token), "401 UNAUTHORIZED")
    }

    @Test func aGroupWithoutItsOwnerIsTheAdministrators() throws {
        var world = try DeletionTests.world()
        world.kii.call("PUT", "groups/\(world.group)/topics/x", token: world.member.token)
        world.kii.call("DELETE", "users/me", token: world.user.token)
        #expect(world.kii.call("GET", "groups/\(world.group)/topics/x", token: world.member.token).status == 204)
        let owned = world.kii.call("GET", "groups?owner=\(world.user.id)", token: world.admin)
        expectRefusal(owned, "404 USER_NOT_FOUND")
        expectRefusal(world.kii.call("DELETE", "groups/\(world.group)", token: world.member.token), "401 UNAUTHORIZED")
        #expect(world.kii.call("DELETE", "groups/\(world.group)", token: world.admin).status == 204)
    }
}
