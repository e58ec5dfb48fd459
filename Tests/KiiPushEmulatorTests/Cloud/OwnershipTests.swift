import KiiPushCore
import KiiPushEmulator
import Testing

@Suite struct OwnershipTests {
    /// `owner` and `member` are in the group.
    private var world: TopicTests.World

    init() throws { self.world = try TopicTests.World() }

    private var path: String { "things/\(self.world.thing.id)/ownership" }
    private var owner: String { "user:\(self.world.user.id)" }
    private var group: String { "group:\(self.world.group)" }

    private mutating func owners() -> [String] {
        let list = self.world.kii.call("GET", self.path, token: self.world.admin).json
        return ["users", "groups"].flatMap { list[$0]?.array ?? [] }.compactMap { $0.string }
    }

    private mutating func add(_ owner: String, token: String) -> Outcome {
        self.world.kii.call("PUT", "\(self.path)/\(owner)", token: token)
    }

    private mutating func add(_ body: JSONValue) -> Outcome {
        self.world.kii.call("POST", self.path, token: self.world.user.token, type: "ThingOwnershipRequest", body)
    }

    // MARK: - At once

    @Test mutating func anOwnerToBeAddsItself() {
        #expect(self.add(self.owner, token: self.world.user.token).status == 204)
        #expect(self.add(self.group, token: self.world.member.token).status == 204)
        let owners = self.owners()
        #expect(owners == [self.world.user.id, self.world.group])
        // Members of a group have the owner's rights to the group's things.
        let shown = self.world.kii.call("GET", "things/VENDOR_THING_ID:lamp-1", token: self.world.member.token)
        #expect(shown.status == 200)
    }

    @Test mutating func aStrangerAddsNobodyElse() {
        for owner in [self.owner, self.group] {
            expectRefusal(self.add(owner, token: self.world.stranger.token), "401 UNAUTHORIZED")
        }
        #expect(self.owners() == [])
    }

    @Test mutating func theAdministratorAndTheThingAddAnybody() {
        #expect(self.add(self.owner, token: self.world.admin).status == 204)
        #expect(self.add("USER:\(self.world.member.id)", token: self.world.thing.token).status == 204)
        // An owner cannot add another owner.
        let other = self.add("user:\(self.world.stranger.id)", token: self.world.user.token)
        expectRefusal(other, "401 UNAUTHORIZED")
        #expect(self.owners().count == 2)
    }

    @Test mutating func whoOwnsTheThingIsNotAddedAgain() {
        for (owner, member, id) in [
            (self.owner, "userID", self.world.user.id), (self.group, "groupID", self.world.group),
        ] {
            _ = self.add(owner, token: self.world.user.token)
            let again = self.add(owner, token: self.world.user.token)
            expectRefusal(again, "409 THING_OWNERSHIP_ALREADY_EXISTS")
            let about = (again.json.members ?? []).filter { $0.key != "errorCode" && $0.key != "message" }
            let expected: JSONValue = [
                "appID": "kiilocal", "thingID": JSONValue(self.world.thing.id), member: JSONValue(id),
            ]
            #expect(JSONValue(members: about) == expected)
        }
    }

    // MARK: - By password

    /// The emulator ignores the password by default. Kii's JavaScript SDK writes the password first.
    @Test mutating func thePasswordIsNotLookedAtByDefault() {
        #expect(self.add(["thingPassword": "wrong", "userID": JSONValue(self.world.user.id)]).status == 204)
        #expect(self.add(["groupID": JSONValue(self.world.group), "thingPassword": "wrong"]).status == 204)
        let owners = self.owners()
        #expect(owners == [self.world.user.id, self.world.group])
    }

    @Test mutating func anAppMayRequireThePassword() {
        self.world.kii.control("PATCH", "app", ["requirePasswordForThingOwnership": true])
        for token in [self.world.user.token, self.world.admin] {
            expectRefusal(self.add(self.owner, token: token), "401 UNAUTHORIZED")
        }
        let user = JSONValue(self.world.user.id)
        expectRefusal(self.add(["userID": user, "thingPassword": "wrong"]), "401 WRONG_PASSWORD")
        expectRefusal(self.add(["userID": user]), "401 WRONG_PASSWORD")
        expectRefusal(
            self.add(["userID": JSONValue(self.world.stranger.id), "thingPassword": "secret"]), "401 UNAUTHORIZED")
        #expect(self.owners() == [])
        #expect(self.add(["thingPassword": "secret", "userID": user]).status == 204)
        #expect(self.add(["groupID": JSONValue(self.world.group), "thingPassword": "secret"]).status == 204)
    }

    @Test mutating func theBodyNamesOneOwner() {
        expectRefusal(self.add(["thingPassword": "secret"]), "400 INVALID_INPUT_DATA")
        let both: JSONValue = ["userID": JSONValue(self.world.user.id), "groupID": JSONValue(self.world.group)]
        expectRefusal(self.add(both), "400 INVALID_INPUT_DATA")
    }

    // MARK: - Listing and removing

    @Test mutating func theOwnersAreForThemAndTheThing() {
        _ = self.add(self.owner, token: self.world.user.token)
        _ = self.add(self.group, token: self.world.user.token)
        for token in [self.world.thing.token, self.world.user.token, self.world.member.token, self.world.admin] {
            let list = self.world.kii.call("GET", "things/VENDOR_THING_ID:lamp-1/ownership", token: token)
            #expect(list.status == 200)
            let expected: JSONValue = [
                "users": [JSONValue(self.world.user.id)], "groups": [JSONValue(self.world.group)],
            ]
            #expect(list.json == expected)
            #expect(self.world.kii.call("HEAD", "\(self.path)/\(self.owner)", token: token).status == 204)
            #expect(self.world.kii.call("HEAD", "\(self.path)/\(self.group)", token: token).status == 204)
            let other = self.world.kii.call("HEAD", "\(self.path)/user:\(self.world.stranger.id)", token: token)
            expectRefusal(other, "404 USER_NOT_FOUND")
        }
        let stranger = self.world.stranger.token
        expectRefusal(self.world.kii.call("GET", self.path, token: stranger), "401 UNAUTHORIZED")
        #expect(self.world.kii.call("HEAD", "\(self.path)/\(self.owner)", token: stranger).status == 204)
    }

    @Test mutating func anOwnerRemovesAnyAndTheThingNone() {
        _ = self.add(self.owner, token: self.world.user.token)
        _ = self.add(self.group, token: self.world.user.token)
        for token in [self.world.thing.token, self.world.stranger.token] {
            let refused = self.world.kii.call("DELETE", "\(self.path)/\(self.owner)", token: token)
            expectRefusal(refused, "401 UNAUTHORIZED")
        }
        let user = self.world.user.token
        #expect(self.world.kii.call("DELETE", "\(self.path)/\(self.group)", token: user).status == 204)
        expectRefusal(
            self.world.kii.call("DELETE", "\(self.path)/\(self.group)", token: user), "404 GROUP_NOT_FOUND")
        let left = self.owners()
        #expect(left == [self.world.user.id])
        #expect(self.world.kii.call("DELETE", "\(self.path)/\(self.owner)", token: self.world.admin).status == 204)
        #expect(self.owners() == [])
        expectRefusal(
            self.world.kii.call("GET", "things/\(self.world.thing.id)", token: user), "401 UNAUTHORIZED")
    }
}
