import KiiPushCore
import KiiPushEmulator
import Testing

@Suite struct GroupTests {
    private typealias World = TopicTests.World

    private static func members(_ world: inout World) -> [String] {
        let shown = world.kii.call("GET", "groups/\(world.group)/members", token: world.stranger.token)
        #expect(shown.status == 200)
        #expect(shown.type == "application/vnd.kii.MembersRetrievalResponse+json")
        return (shown.json["members"]?.array ?? []).compactMap { $0["userID"]?.string }
    }

    private static func rename(
        _ world: inout World,
        _ name: String,
        type: String = "text/plain",
        token: String
    ) -> Outcome {
        let fields = [HTTPField("Authorization", "Bearer \(token)"), HTTPField("Content-Type", type)]
        return world.kii.raw("PUT", "/apps/\(world.kii.app.appID)/groups/\(world.group)/name", fields, name)
    }

    @Test func aGroupTellsWhichMembersAreUnknown() throws {
        var kii = CloudHarness()
        // A user who is neither the owner nor a member may create the group.
        let (owner, member, asking) = (try kii.user(), try kii.user(), try kii.user())
        let outcome = kii.call(
            "POST",
            "groups",
            token: asking.token,
            type: "GroupCreationRequest",
            ["name": "team", "owner": JSONValue(owner.id), "members": [JSONValue(member.id), "nobody"]]
        )
        #expect(outcome.status == 201)
        let id = try #require(outcome.json["groupID"]?.string)
        #expect(outcome.response.field("Location")?.hasSuffix("/groups/\(id)") == true)
        #expect(outcome.json["notFoundUsers"]?.array?.map { $0.string } == ["nobody"])
        let shown = kii.call("GET", "groups/\(id)/members", token: member.token).json["members"]?.array
        #expect(Set((shown ?? []).compactMap { $0["userID"]?.string }) == [owner.id, member.id])
    }

    @Test func aGroupMayHaveAnIDOfItsOwn() throws {
        var world = try World()
        let body: JSONValue = ["name": "team", "members": [JSONValue(world.member.id), "nobody"]]
        let type = "GroupCreationRequest"
        let made = world.kii.call("PUT", "groups/a-team_1.x", token: world.user.token, type: type, body)
        #expect(made.status == 201)
        #expect(made.type == "application/vnd.kii.GroupCreationResponse+json")
        #expect(made.json == ["groupID": "a-team_1.x", "notFoundUsers": ["nobody"]])
        for id in ["A-team", "a%20team", "%C3%A9", String(repeating: "x", count: 31)] {
            let refused = world.kii.call("PUT", "groups/\(id)", token: world.user.token, type: type, body)
            expectRefusal(refused, "400 INVALID_INPUT_DATA")
        }
    }

    @Test func aThingMakesNoGroup() throws {
        var world = try World()
        for (method, path) in [("POST", "groups"), ("PUT", "groups/things")] {
            let body: JSONValue = ["name": "team", "owner": JSONValue(world.user.id)]
            let refused = world.kii.call(
                method, path, token: world.thing.token, type: "GroupCreationRequest", body)
            expectRefusal(refused, "401 UNAUTHORIZED")
        }
    }

    @Test func aGroupOfTheAdministratorNeedsNoOwner() throws {
        var world = try World()
        let path = "groups/lost"
        let made = world.kii.call(
            "PUT", path, token: world.admin, type: "GroupCreationRequest", ["name": "team"])
        #expect(made.status == 201)
        #expect(world.kii.call("GET", path, token: world.user.token).json == ["groupID": "lost", "name": "team"])
        for token in [world.user.token, world.thing.token] {
            expectRefusal(world.kii.call("DELETE", path, token: token), "401 UNAUTHORIZED")
        }
        let owner: JSONValue = ["owner": JSONValue(world.user.id)]
        let type = "GroupOwnerChangeRequest"
        #expect(world.kii.call("PUT", "\(path)/owner", token: world.admin, type: type, owner).status == 200)
        #expect(world.kii.call("DELETE", path, token: world.user.token).status == 204)
    }

    @Test func aNameHas190CharactersAtMost() throws {
        var world = try World()
        let longest = String(repeating: "\u{e9}", count: 190)
        for (name, status) in [(longest, 201), (longest + "e", 400), ("", 400)] {
            let made = world.kii.call(
                "POST", "groups", token: world.user.token, type: "GroupCreationRequest", ["name": JSONValue(name)])
            #expect(made.status == status)
            #expect(
                GroupTests.rename(&world, name, token: world.user.token).status == (status == 201 ? 204 : status))
        }
        let shown = world.kii.call("GET", "groups/\(world.group)", token: world.thing.token).json
        #expect(shown["name"]?.string == longest)
    }

    @Test func theOwnerAndTheAdministratorRename() throws {
        var world = try World()
        for (name, token) in [(#""quoted""#, world.user.token), ("by admin", world.admin)] {
            #expect(GroupTests.rename(&world, name, token: token).status == 204)
            let shown = world.kii.call("GET", "groups/\(world.group)", token: world.stranger.token)
            #expect(shown.type == "application/vnd.kii.GroupRetrievalResponse+json")
            let expected: JSONValue = [
                "groupID": JSONValue(world.group), "name": JSONValue(name), "owner": JSONValue(world.user.id),
            ]
            #expect(shown.json == expected)
        }
        expectRefusal(GroupTests.rename(&world, "x", token: world.member.token), "401 UNAUTHORIZED")
        let typed = GroupTests.rename(&world, "x", type: "application/json", token: world.user.token)
        expectRefusal(typed, "400 INVALID_INPUT_DATA")
    }

    @Test func groupsAreListedByMemberAndByOwner() throws {
        var world = try World()
        let second = try world.kii.group(of: world.member, members: [])
        func list(_ query: String, _ token: String) -> [String] {
            let listed = world.kii.call("GET", "groups\(query)", token: token)
            #expect(listed.status == 200)
            #expect(listed.type == "application/vnd.kii.GroupsRetrievalResponse+json")
            return (listed.json["groups"]?.array ?? []).compactMap { $0["groupID"]?.string }
        }
        let (user, member, stranger) = (world.user, world.member, world.stranger)
        let both = [world.group, second].sorted()
        #expect(list("?is_member=\(member.id)", stranger.token) == both)
        #expect(list("?owner=\(member.id)", member.token) == [second])
        #expect(list("?owner=\(user.id)&is_member=\(member.id)", user.token) == [world.group])
        #expect(list("?is_member=\(stranger.id)", user.token) == [])
        // Kii's JavaScript SDK writes a slash before the query.
        #expect(list("/?is_member=\(member.id)", member.token) == both)
        #expect(list("/?owner=\(user.id)", member.token) == [world.group])
        #expect(list("", world.admin) == both)
        expectRefusal(world.kii.call("GET", "groups", token: user.token), "401 UNAUTHORIZED")
        expectRefusal(world.kii.call("GET", "groups?owner=none", token: user.token), "404 USER_NOT_FOUND")
    }

    @Test func membersComeAndGo() throws {
        var world = try World()
        let (user, member, stranger) = (world.user, world.member, world.stranger)
        let path = "groups/\(world.group)/members"
        #expect(GroupTests.members(&world) == [user.id, member.id].sorted())
        for token in [member.token, stranger.token, world.thing.token] {
            expectRefusal(world.kii.call("PUT", "\(path)/\(stranger.id)", token: token), "401 UNAUTHORIZED")
        }
        // Adding a member twice changes nothing.
        for token in [user.token, world.admin] {
            let added = world.kii.call("PUT", "\(path)/\(stranger.id)", token: token)
            #expect(added.status == 204)
            #expect(added.response.body.isEmpty)
        }
        #expect(GroupTests.members(&world).count == 3)
        expectRefusal(world.kii.call("DELETE", "\(path)/\(member.id)", token: stranger.token), "401 UNAUTHORIZED")
        // The owner removes a member; a member leaves.
        for (id, token) in [(member.id, user.token), (stranger.id, stranger.token)] {
            #expect(world.kii.call("DELETE", "\(path)/\(id)", token: token).status == 204)
            expectRefusal(world.kii.call("DELETE", "\(path)/\(id)", token: token), "404 USER_NOT_FOUND")
        }
        #expect(GroupTests.members(&world) == [user.id])
        expectRefusal(world.kii.call("PUT", "\(path)/none", token: user.token), "404 USER_NOT_FOUND")
    }

    @Test func theNewOwnerManages() throws {
        var world = try World()
        let (path, type) = ("groups/\(world.group)", "GroupOwnerChangeRequest")
        let owner: JSONValue = ["owner": JSONValue(world.stranger.id)]
        expectRefusal(
            world.kii.call("PUT", "\(path)/owner", token: world.member.token, type: type, owner), "401 UNAUTHORIZED")
        let changed = world.kii.call("PUT", "\(path)/owner", token: world.user.token, type: type, owner)
        #expect(changed.status == 200)
        #expect(changed.response.body.isEmpty)
        #expect(world.kii.call("GET", path, token: world.user.token).json["owner"]?.string == world.stranger.id)
        #expect(GroupTests.members(&world).count == 3)
        expectRefusal(world.kii.call("DELETE", path, token: world.user.token), "401 UNAUTHORIZED")
        #expect(world.kii.call("DELETE", path, token: world.stranger.token).status == 204)
        expectRefusal(world.kii.call("GET", path, token: world.user.token), "404 GROUP_NOT_FOUND")
    }

    @Test func aDeletedGroupTakesAllOfItsOwnAlong() throws {
        var world = try World()
        let (user, member) = (world.user, world.member)
        _ = try world.kii.installation(of: member)
        let type = "GroupCreationRequest"
        world.kii.call(
            "PUT", "groups/team", token: user.token, type: type, ["name": "team", "members": [JSONValue(member.id)]])
        world.kii.call("PUT", "groups/team/topics/x", token: user.token)
        world.kii.call("POST", "groups/team/topics/x/push/subscriptions/users", token: member.token)
        let bucket = "groups/team/buckets/notes"
        world.kii.call("POST", "\(bucket)/filters/all/push/subscriptions/users", token: member.token)
        world.kii.call("PUT", "\(bucket)/objects/one", token: member.token, type: "note", [:])
        world.kii.call("PUT", "\(bucket)/objects/one/body", token: member.token, type: "note", [:])
        world.kii.call("PUT", "things/\(world.thing.id)/ownership/group:team", token: world.admin)
        world.kii.call("PUT", "topics/x", token: world.admin)
        world.kii.call("PUT", "topics/x/acl/SEND_MESSAGE_TO_TOPIC/GroupID:team", token: world.admin)
        #expect(world.kii.call("GET", "things/\(world.thing.id)", token: member.token).status == 200)

        expectRefusal(world.kii.call("DELETE", "groups/team", token: member.token), "401 UNAUTHORIZED")
        let before = world.kii.changes.count
        let deleted = world.kii.call("DELETE", "groups/team", token: user.token)
        #expect(deleted.status == 204)
        #expect(deleted.published.isEmpty)
        let removed = world.kii.changes[before...].compactMap { change -> String? in
            if case .remove(let table, _) = change { table } else { nil }
        }
        #expect(removed.sorted() == ["body", "bucket", "group", "object", "subscription", "subscription", "topic"])

        // A new group of the same name inherits nothing.
        world.kii.call("PUT", "groups/team", token: member.token, type: type, ["name": "other"])
        expectRefusal(world.kii.call("GET", "groups/team/topics/x", token: member.token), "404 TOPIC_NOT_FOUND")
        expectRefusal(world.kii.call("GET", "\(bucket)/objects/one", token: member.token), "404 OBJECT_NOT_FOUND")
        expectRefusal(world.kii.call("GET", "things/\(world.thing.id)", token: member.token), "401 UNAUTHORIZED")
        let rights = world.kii.call("GET", "topics/x/acl", token: world.admin).json
        #expect(rights["SEND_MESSAGE_TO_TOPIC"]?.array?.isEmpty == true)
        #expect(rights["SUBSCRIBE_TO_TOPIC"]?.array?.count == 1)
    }
}
