import KiiPushCore
import KiiPushEmulator
import Testing

/// Requests for an owner that the other side confirms: a thing asks for an owner, or an owner for a thing.
@Suite struct OwnershipRequestTests {
    /// `owner` and `member` are in the group.
    private var world: TopicTests.World

    init() throws { self.world = try TopicTests.World() }

    private var path: String { "things/\(self.world.thing.id)/ownership" }
    private var owner: String { "user:\(self.world.user.id)" }
    private var group: String { "group:\(self.world.group)" }

    private mutating func ask(_ owner: String, token: String) -> Outcome {
        self.world.kii.call("POST", "\(self.path)/request/\(owner)", token: token)
    }

    private mutating func code(_ owner: String, token: String) throws -> JSONValue {
        let outcome = self.ask(owner, token: token)
        return try #require(outcome.json["code"])
    }

    private mutating func confirm(_ code: JSONValue, token: String) -> Outcome {
        let type = "ThingOwnershipConfirmationRequest"
        return self.world.kii.call("POST", "\(self.path)/confirm", token: token, type: type, ["code": code])
    }

    /// The status of a check of `owner`: 204 for an owner of the thing, else 404.
    private mutating func check(_ owner: String) -> Int {
        self.world.kii.call("HEAD", "\(self.path)/\(owner)", token: self.world.admin).status
    }

    @Test mutating func theAnswerIsACode() {
        let outcome = self.ask(self.owner, token: self.world.user.token)
        #expect(outcome.status == 200)
        #expect(outcome.type == "application/vnd.kii.ThingOwnershipRequestResponse+json")
        #expect(outcome.json.members?.count == 1)
        #expect(outcome.json["code"]?.string?.count == 11)
        #expect(self.check(self.owner) == 404)
    }

    @Test(arguments: [true, false])
    mutating func theOtherSideConfirms(isByThing: Bool) throws {
        for (owner, token) in [(self.owner, self.world.user.token), (self.group, self.world.member.token)] {
            let (asker, other) = isByThing ? (self.world.thing.token, token) : (token, self.world.thing.token)
            let code = try self.code(owner, token: asker)
            for wrong in [asker, self.world.stranger.token] {
                expectRefusal(self.confirm(code, token: wrong), "401 UNAUTHORIZED")
            }
            #expect(self.check(owner) == 404)
            #expect(self.confirm(code, token: other).status == 204)
            #expect(self.check(owner) == 204)
        }
    }

    @Test mutating func whatWasAskedForEndsWithTheOwner() throws {
        for (owner, path) in [(self.group, "groups/\(self.world.group)"), (self.owner, "users/\(self.world.user.id)")] {
            let code = try self.code(owner, token: self.world.thing.token)
            #expect(self.world.kii.call("DELETE", path, token: self.world.admin).status == 204)
            expectRefusal(self.confirm(code, token: self.world.admin), "403 INVALID_VERIFICATION_CODE")
        }
    }

    @Test mutating func theAdministratorAsksForTheOwnerAndConfirmsAnything() throws {
        let first = try self.code(self.owner, token: self.world.admin)
        expectRefusal(self.confirm(first, token: self.world.user.token), "401 UNAUTHORIZED")
        #expect(self.confirm(first, token: self.world.thing.token).status == 204)
        for (owner, asker) in [
            (self.group, self.world.thing.token), ("user:\(self.world.member.id)", self.world.member.token),
            ("user:\(self.world.stranger.id)", self.world.admin),
        ] {
            let code = try self.code(owner, token: asker)
            #expect(self.confirm(code, token: self.world.admin).status == 204)
            #expect(self.check(owner) == 204)
        }
    }

    /// An owner of the thing may neither request another owner nor confirm one.
    @Test mutating func nobodyElseAsksOrConfirms() throws {
        self.world.kii.call("PUT", "\(self.path)/\(self.owner)", token: self.world.admin)
        let friend = "user:\(self.world.stranger.id)"
        expectRefusal(self.ask(friend, token: self.world.user.token), "401 UNAUTHORIZED")
        expectRefusal(self.ask(self.group, token: self.world.stranger.token), "401 UNAUTHORIZED")
        let code = try self.code(friend, token: self.world.stranger.token)
        expectRefusal(self.confirm(code, token: self.world.user.token), "401 UNAUTHORIZED")
    }

    @Test mutating func aCodeWorksOnceAndAtItsThing() throws {
        let thing = self.world.thing.token
        let code = try self.code(self.owner, token: self.world.user.token)
        expectRefusal(self.confirm("XXXXXXXXXXX", token: thing), "403 INVALID_VERIFICATION_CODE")
        let other = try self.world.kii.thing("lamp-2")
        let elsewhere = self.world.kii.call(
            "POST", "things/VENDOR_THING_ID:lamp-2/ownership/confirm", token: other.token,
            type: "ThingOwnershipConfirmationRequest", ["code": code])
        expectRefusal(elsewhere, "403 INVALID_VERIFICATION_CODE")
        #expect(self.confirm(code, token: thing).status == 204)
        self.world.kii.call("DELETE", "\(self.path)/\(self.owner)", token: self.world.admin)
        expectRefusal(self.confirm(code, token: thing), "403 INVALID_VERIFICATION_CODE")
    }

    @Test mutating func anotherRequestForTheOwnerTakesThePlaceOfTheFormer() throws {
        let (thing, user) = (self.world.thing.token, self.world.user.token)
        let former = try self.code(self.owner, token: user)
        let ofGroup = try self.code(self.group, token: user)
        let latter = try self.code(self.owner, token: thing)
        expectRefusal(self.confirm(former, token: thing), "403 INVALID_VERIFICATION_CODE")
        #expect(self.confirm(latter, token: user).status == 204)
        #expect(self.confirm(ofGroup, token: thing).status == 204)
    }

    @Test mutating func aCodeNeedsNoPassword() throws {
        self.world.kii.control("PATCH", "app", ["requirePasswordForThingOwnership": true])
        let code = try self.code(self.owner, token: self.world.thing.token)
        #expect(self.confirm(code, token: self.world.user.token).status == 204)
    }

    // MARK: - Over a restart

    @Test mutating func whatIsNotConfirmedOutlivesARestart() throws {
        let codes = (
            byThing: try self.code(self.owner, token: self.world.thing.token),
            byMember: try self.code(self.group, token: self.world.member.token)
        )
        var state = CloudState()
        for case .save(let table, _, let value) in self.world.kii.changes {
            // Parses the row, as the store does after a restart.
            let isUnderstood = state.load(table: table, value: try JSONValue(parsing: value.serialized()))
            #expect(isUnderstood)
        }
        self.world.kii = CloudHarness(state: state)
        expectRefusal(self.confirm(codes.byThing, token: self.world.thing.token), "401 UNAUTHORIZED")
        #expect(self.confirm(codes.byThing, token: self.world.user.token).status == 204)
        #expect(self.confirm(codes.byMember, token: self.world.thing.token).status == 204)
    }

    private static let thing: JSONMembers = [
        ("id", "th.1"), ("vendorThingID", "lamp"), ("password", "secret"), ("attributes", [:]), ("owners", ["u1"]),
    ]

    @Test func aThingOfAStateWithoutRequestsIsUnderstood() throws {
        var state = CloudState()
        let isUnderstood = state.load(table: "thing", value: .object(Self.thing))
        #expect(isUnderstood)
        var kii = CloudHarness(state: state)
        let list = kii.call("GET", "things/th.1/ownership", token: try kii.admin()).json
        #expect(list == ["users": ["u1"], "groups": []])
    }

    @Test func anOwnerThatIsGoneIsNotConfirmed() throws {
        let requests: JSONValue = ["user:gone": ["code": "XXXXXXXXXXX", "byThing": true], "user:odd": ["code": 7]]
        var state = CloudState()
        let isUnderstood = state.load(
            table: "thing", value: .object(Self.thing + [("ownershipRequests", requests)]))
        #expect(isUnderstood)
        var kii = CloudHarness(state: state)
        let outcome = kii.call(
            "POST", "things/th.1/ownership/confirm", token: try kii.admin(),
            type: "ThingOwnershipConfirmationRequest", ["code": "XXXXXXXXXXX"])
        expectRefusal(outcome, "404 USER_NOT_FOUND")
    }
}
