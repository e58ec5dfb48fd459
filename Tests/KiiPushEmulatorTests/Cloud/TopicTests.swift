import KiiPushCore
import KiiPushEmulator
import Testing

@Suite struct TopicTests {
    /// Accounts of each kind, a group, and the administrator's token.
    struct World {
        var kii = CloudHarness()
        let user: CloudHarness.Account
        let member: CloudHarness.Account
        let stranger: CloudHarness.Account
        let thing: CloudHarness.Account
        let group: String
        let admin: String

        init() throws {
            self.user = try self.kii.user("owner")
            self.member = try self.kii.user("member")
            self.stranger = try self.kii.user("stranger")
            self.thing = try self.kii.thing()
            self.group = try self.kii.group(of: self.user, members: [self.member])
            self.admin = try self.kii.admin()
        }

        /// The prefix of a scope's paths, and a token that may create topics in the scope.
        func scope(_ name: String) -> (prefix: String, token: String) {
            switch name {
            case "user": ("users/\(self.user.id)/", self.user.token)
            case "me": ("users/me/", self.user.token)
            case "group": ("groups/\(self.group)/", self.member.token)
            case "thing": ("things/\(self.thing.id)/", self.thing.token)
            case "vendor": ("things/VENDOR_THING_ID:lamp-1/", self.thing.token)
            default: ("", self.admin)
            }
        }
    }

    @Test func aMissingTopicIsNamedWithItsScope() throws {
        var world = try World()
        let outcome = world.kii.call("GET", "users/me/topics/none", token: world.user.token)
        #expect(outcome.type == "application/vnd.kii.TopicNotFoundException+json")
        #expect(outcome.json["topicID"]?.string == "none")
        #expect(outcome.json["objectScope"]?["appID"]?.string == world.kii.app.appID)
        #expect(outcome.json["objectScope"]?["userID"]?.string == world.user.id)
        #expect(outcome.json["objectScope"]?["type"]?.string == "APP_AND_USER")
    }

    @Test func onlyTheRightPeopleCreateTopics() throws {
        var world = try World()
        let refused = [
            ("topics/x", world.user.token), ("topics/x", world.thing.token),
            ("users/\(world.user.id)/topics/x", world.stranger.token),
            ("users/\(world.user.id)/topics/x", world.thing.token),
            ("groups/\(world.group)/topics/x", world.stranger.token),
            ("groups/\(world.group)/topics/x", world.thing.token),
            ("things/\(world.thing.id)/topics/x", world.stranger.token),
        ]
        for (path, token) in refused {
            expectRefusal(world.kii.call("PUT", path, token: token), "401 UNAUTHORIZED")
        }
        for scope in ["app", "user", "group", "thing"] {
            let path = world.scope(scope).prefix + "topics/x"
            #expect(world.kii.call("PUT", path, token: world.admin).status == 204)
        }
    }

    @Test func theOwnerOfAThingCreatesItsTopics() throws {
        var world = try World()
        let path = "things/\(world.thing.id)/topics/x"
        world.kii.call("PUT", "things/\(world.thing.id)/ownership/user:\(world.user.id)", token: world.thing.token)
        #expect(world.kii.call("PUT", path, token: world.user.token).status == 204)
    }

    @Test func anotherMemberDoesNotDeleteAGroupsTopicButItsOwnerDoes() throws {
        var world = try World()
        let path = "groups/\(world.group)/topics/x"
        #expect(world.kii.call("PUT", path, token: world.admin).status == 204)
        expectRefusal(world.kii.call("DELETE", path, token: world.member.token), "401 UNAUTHORIZED")
        #expect(world.kii.call("DELETE", path, token: world.user.token).status == 204)
    }

    @Test(arguments: ["a.b", "a%20b", "%C3%A9", String(repeating: "x", count: 65)])
    func illegalNamesAreRefused(name: String) throws {
        var world = try World()
        expectRefusal(world.kii.call("PUT", "topics/\(name)", token: world.admin), "400 INVALID_INPUT_DATA")
    }

    @Test func aLongListComesInPages() throws {
        var world = try World()
        let names = (100..<230).map { "t\($0)" }
        for name in names { world.kii.call("PUT", "topics/\(name)", token: world.admin) }
        var listed: [String] = []
        var query = ""
        for _ in 0..<5 {
            let page = world.kii.call("GET", "topics" + query, token: world.user.token).json
            listed += (page["topics"]?.array ?? []).compactMap { $0["topicID"]?.string }
            guard let key = page["paginationKey"]?.string else { break }
            query = "?paginationKey=\(key)"
        }
        #expect(listed == names)
    }
}
