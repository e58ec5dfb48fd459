import KiiPushCore
import KiiPushEmulator
import Testing

/// Commands of thing-if, below `/thing-if/apps/{appID}/targets`.
@Suite struct CommandTests {
    private static let json = "application/json"
    private static let creation = "application/vnd.kii.CommandCreationRequest+json"
    private static let update = "application/vnd.kii.CommandResultsUpdateRequest+json"

    private var kii: CloudHarness
    private let admin: String
    private let owner: CloudHarness.Account
    private let stranger: CloudHarness.Account
    private let thing: CloudHarness.Account

    init() throws {
        var kii = CloudHarness()
        self.admin = try kii.admin()
        (self.owner, self.stranger, self.thing) = (try kii.user(), try kii.user(), try kii.thing())
        kii.call("PUT", "things/\(self.thing.id)/ownership/user:\(self.owner.id)", token: self.admin)
        self.kii = kii
    }

    /// A request about the thing's commands, with the owner's token by default.
    private mutating func call(
        _ method: String, _ path: String = "", token: String? = nil, type: String? = nil, _ body: String = ""
    ) -> Outcome {
        self.call(method, target: "thing:\(self.thing.id)", path, token: token, type: type, body)
    }

    private mutating func call(
        _ method: String, target: String, _ path: String = "", token: String? = nil, type: String? = nil,
        _ body: String = ""
    ) -> Outcome {
        var fields = [HTTPField("Authorization", "Bearer \(token ?? self.owner.token)")]
        if let type { fields.append(HTTPField("Content-Type", type)) }
        return self.kii.send(method, "/thing-if/apps/kiilocal/targets/\(target)/commands\(path)", fields, body)
    }

    /// A command with two actions, issued by the owner by default.
    private func plain(issuer: String? = nil) -> String {
        """
        { "actions": [ {"turnPower": {"power": true}}, {"setBrightness": {"brightness": 40}} ],
          "issuer": "\(issuer ?? "user:\(self.owner.id)")", "schema": "Lamp", "schemaVersion": 1 }
        """
    }

    private var byTraits: String {
        """
        { "issuer": "user:\(self.owner.id)", "schema": "not of traits",
          "actions": [ {"lamp": [ {"turnPower": true}, {"setBrightness": 40} ]} ] }
        """
    }

    private mutating func sent(_ body: String? = nil, type: String = CommandTests.json) throws -> String {
        let outcome = self.call("POST", type: type, body ?? self.plain())
        return try #require(outcome.json["commandID"]?.string, "\(outcome.json)")
    }

    private mutating func state(of id: String) -> String? { self.call("GET", "/\(id)").json["commandState"]?.string }

    private mutating func stateOfANewOne() throws -> String? {
        let id = try self.sent()
        return self.state(of: id)
    }

    private mutating func report(_ results: String, of id: String, type: String = CommandTests.json) -> Outcome {
        let body = #"{"actionResults":\#(results)}"#
        return self.call("PUT", "/\(id)/action-results", token: self.thing.token, type: type, body)
    }

    // MARK: - To the thing

    /// Kii's C sample compares the first 12 bytes of the message.
    @Test mutating func theThingGetsItWithTheIDFirstAndWithoutBlanks() throws {
        let installation = try self.kii.installation(of: self.thing)
        let actions = #"[{"turnPower":{"power":true}},{"setBrightness":{"brightness":40}}]"#
        let ofTraits = #"[{"lamp":[{"turnPower":true},{"setBrightness":40}]}]"#
        for (type, body, rest) in [
            (Self.json, self.plain(), #""schema":"Lamp","schemaVersion":1,"actions":\#(actions)"#),
            (Self.creation, self.byTraits, #""actions":\#(ofTraits)"#),
        ] {
            let outcome = self.call("POST", type: type, body)
            #expect(outcome.status == 201 && outcome.type == "application/json")
            let id = try #require(outcome.json["commandID"]?.string)
            let payload = #"{"commandID":"\#(id)",\#(rest),"issuer":"user:\#(self.owner.id)"}"#
            #expect(outcome.effects.publications.map { String(decoding: $0.payload, as: UTF8.self) } == [payload])
            #expect(outcome.effects.publications.map { $0.topic } == [installation.topic])
            let logged = self.kii.control("GET", "messages").json["messages"]?.array?.last
            #expect(logged?["kind"]?.string == "COMMAND")
            #expect(logged?["source"]?.string == "kiicloud://things/\(self.thing.id)")
            #expect(logged?["deliveries"] == ["mqtt": 1])
        }
    }

    @Test mutating func itsStateSaysHowFarItCame() throws {
        #expect(try self.stateOfANewOne() == "SEND_FAILED")
        let name = String(try self.kii.installation(of: self.thing).topic.dropFirst("push/".count))
        #expect(try self.stateOfANewOne() == "SENDING")
        @Sendable func connected(_ name: String) -> [String: BrokerConnections.Status] {
            [name: .init(connections: 1, changedAt: CloudHarness.start)]
        }
        self.kii.cloud.presence = { connected("somebody") }
        #expect(try self.stateOfANewOne() == "SENDING")
        self.kii.cloud.presence = { connected(name) }
        #expect(try self.stateOfANewOne() == "DELIVERED")
    }

    @Test mutating func theThingItsOwnersAndTheAdministratorMaySend() throws {
        for token in [self.thing.token, self.owner.token, self.admin] {
            #expect(self.call("POST", token: token, type: Self.json, self.plain()).status == 201)
        }
        let capitals = self.call("POST", target: "THING:\(self.thing.id)", type: Self.json, self.plain())
        #expect(capitals.status == 201)
        for (method, path) in [("POST", ""), ("GET", ""), ("GET", "/c"), ("PUT", "/c/action-results")] {
            expectRefusal(self.call(method, path, token: self.stranger.token, "{}"), "401 UNAUTHORIZED")
        }
    }

    @Test mutating func whatIsNoCommandIsRefused() throws {
        let issuer = #""issuer":"user:\#(self.owner.id)""#
        let schema = #""schema":"S","schemaVersion":1"#
        let whole = #"{\#(issuer),\#(schema),"actions":[{"a":{}}]"#
        let longer = String(repeating: "x", count: 201)
        let rows: [(type: String, body: String, refusal: String)] = [
            (Self.json, #"{\#(issuer),\#(schema),"actions":[{}]}"#, "400 WRONG_COMMAND"),
            (Self.creation, #"{\#(issuer),"actions":[{"lamp":[]}]}"#, "400 WRONG_COMMAND"),
            (Self.creation, #"{\#(issuer),"actions":[{"lamp":{"turnPower":true}}]}"#, "400 INVALID_INPUT_DATA"),
            (Self.json, #"{\#(issuer),\#(schema),"actions":["a"]}"#, "400 INVALID_INPUT_DATA"),
            (Self.json, self.plain(issuer: "user:\(self.stranger.id)"), "400 INVALID_INPUT_DATA"),
            (Self.json, self.plain(issuer: "me"), "400 INVALID_INPUT_DATA"),
            (Self.json, #"\#(whole),"description":"\#(longer)"}"#, "400 INVALID_INPUT_DATA"),
        ]
        for row in rows { expectRefusal(self.call("POST", type: row.type, row.body), row.refusal) }
        let title = String(repeating: "ä", count: 50)
        let id = try self.sent(#"\#(whole),"title":"\#(title)","metadata":{"x":1}}"#)
        let shown = self.call("GET", "/\(id)").json
        #expect(shown["title"]?.string == title && shown["metadata"] == ["x": 1])
    }

    // MARK: - From the thing

    @Test mutating func itIsDoneWhenEachActionHasAResult() throws {
        let (power, brightness) = (#"{"turnPower":{"succeeded":true}}"#, #"{"setBrightness":{"succeeded":false}}"#)
        let plain = try self.sent()
        let byTraits = try self.sent(self.byTraits, type: Self.creation)
        #expect(self.call("GET", "/\(plain)").json["actionResults"] == nil)
        for (id, type, results, state) in [
            (plain, Self.json, "[\(power)]", "INCOMPLETE"), (plain, Self.json, "[\(power),\(power)]", "INCOMPLETE"),
            (plain, Self.json, "[\(power),\(brightness)]", "DONE"),
            (byTraits, Self.update, #"[{"lamp":[\#(power)]}]"#, "INCOMPLETE"),
            (byTraits, Self.update, #"[{"lamp":[\#(brightness),\#(power)]}]"#, "DONE"),
            // Kii's C sample answers in this form.
            (byTraits, Self.json, "[\(power)]", "INCOMPLETE"),
            (byTraits, Self.json, "[\(power),\(brightness)]", "DONE"),
        ] {
            self.kii.now = self.kii.now + .seconds(1)
            #expect(self.report(results, of: id, type: type).status == 204, "\(results)")
            let shown = self.call("GET", "/\(id)").json
            #expect(shown["commandState"]?.string == state, "\(results)")
            #expect(shown["actionResults"]?.text == results)
            #expect(shown["createdAt"]?.int64 == CloudHarness.start.millisecondsSinceEpoch)
            #expect(shown["modifiedAt"]?.int64 == self.kii.now.millisecondsSinceEpoch)
        }
    }

    @Test(arguments: ["[7]", #"[{"a":{}}]"#, #"[{"a":{"succeeded":1}}]"#, #"[{"a":[]}]"#])
    mutating func whatIsNoResultIsRefused(results: String) throws {
        let id = try self.sent()
        expectRefusal(self.report(results, of: id), "400 INVALID_INPUT_DATA")
        #expect(self.state(of: id) == "SEND_FAILED")
    }

    @Test mutating func theIssuerIsToldOfResults() throws {
        let installation = try self.kii.installation(of: self.owner)
        _ = try self.kii.installation(of: self.stranger)
        let id = try self.sent()
        let outcome = self.report(#"[{"turnPower":{"succeeded":true}}]"#, of: id)
        let payload = """
            {"commandID":"\(id)","senderURI":"kiicloud://admins/APP_ADMIN",\
            "sourceURI":"kiicloud://users/\(self.owner.id)"}
            """
        #expect(outcome.effects.publications.map { String(decoding: $0.payload, as: UTF8.self) } == [payload])
        #expect(outcome.effects.publications.map { $0.topic } == [installation.topic])
        let logged = self.kii.control("GET", "messages").json["messages"]?.array?.last
        #expect(logged?["kind"]?.string == "DIRECT_PUSH")
        #expect(logged?["source"]?.string == "kiicloud://users/\(self.owner.id)")
        #expect(logged?["sender"]?.string == "thing:\(self.thing.id)")
    }

    @Test mutating func eachMemberOfAGroupThatIssuedItIsTold() throws {
        let group = try self.kii.group(of: self.owner, members: [self.stranger])
        let ofGroup = self.plain(issuer: "group:\(group)")
        expectRefusal(self.call("POST", type: Self.json, ofGroup), "400 INVALID_INPUT_DATA")
        self.kii.call("PUT", "things/\(self.thing.id)/ownership/group:\(group)", token: self.admin)
        let people = [self.owner, self.stranger]
        let topics = try people.map { try self.kii.installation(of: $0).topic }
        let id = try self.sent(ofGroup)
        let published = self.report(#"[{"turnPower":{"succeeded":true}}]"#, of: id).published
        #expect(Set(published.map { $0.topic }) == Set(topics))
        let sources = published.compactMap { $0.payload["sourceURI"]?.string }
        #expect(Set(sources) == Set(people.map { "kiicloud://users/\($0.id)" }))
        let kinds = self.kii.control("GET", "messages").json["messages"]?.array?.compactMap { $0["kind"]?.string }
        #expect(kinds == ["COMMAND", "DIRECT_PUSH", "DIRECT_PUSH"])
    }

    // MARK: - Reading

    @Test mutating func theListHasPagesInTheOrderOfSending() throws {
        let ids = try (0..<3).map { _ in try self.sent() }
        let whole = self.call("GET").json
        #expect(whole["commands"]?.array?.compactMap { $0["commandID"]?.string } == ids)
        #expect(whole["commands"]?[0] == self.call("GET", "/\(ids[0])").json)
        #expect(whole["nextPaginationKey"] == nil)
        let first = self.call("GET", "?bestEffortLimit=2").json
        #expect(first["commands"]?.array?.compactMap { $0["commandID"]?.string } == Array(ids[..<2]))
        let key = try #require(first["nextPaginationKey"]?.string)
        let last = self.call("GET", "?bestEffortLimit=2&paginationKey=\(key)").json
        #expect(last["commands"]?.array?.compactMap { $0["commandID"]?.string } == [ids[2]])
        #expect(last["nextPaginationKey"] == nil)
        for query in ["bestEffortLimit=0", "bestEffortLimit=x", "paginationKey=x", "paginationKey=200/-1"] {
            expectRefusal(self.call("GET", "?\(query)"), "400 INVALID_INPUT_DATA")
        }
    }

    /// Each command is nearly as large as a request may be, so an answer has room for one or two.
    @Test mutating func aListEndsBeforeItIsTooLarge() throws {
        let note = String(repeating: "x", count: 900_000)
        let body = self.plain().replacing(#""schema":"#, with: #""metadata": {"note": "\#(note)"}, "schema":"#)
        let ids = [try self.sent(body), try self.sent(body), try self.sent(body)]
        var (listed, key): ([String], String?) = ([], nil)
        repeat {
            let page = self.call("GET", key.map { "?paginationKey=\($0)" } ?? "").json
            let commands = try #require(page["commands"]?.array)
            #expect((1...2).contains(commands.count))
            listed += commands.compactMap { $0["commandID"]?.string }
            key = page["nextPaginationKey"]?.string
        } while key != nil
        #expect(listed == ids)
    }

    @Test mutating func anOwnerDoesNotIssueInTheNameOfAnother() {
        let path = "things/\(self.thing.id)/ownership/user:\(self.stranger.id)"
        #expect(self.kii.call("PUT", path, token: self.admin).status == 204)
        let outcome = self.call("POST", token: self.stranger.token, type: Self.json, self.plain())
        expectRefusal(outcome, "401 UNAUTHORIZED")
        let own = self.plain(issuer: "user:\(self.stranger.id)")
        #expect(self.call("POST", token: self.stranger.token, type: Self.json, own).status == 201)
    }

    @Test mutating func aCommandIsItsThings() throws {
        let id = try self.sent()
        let other = try self.kii.thing("lamp-2")
        expectRefusal(self.call("GET", "/nothing"), "404 COMMAND_NOT_FOUND")
        expectRefusal(
            self.call("GET", target: "thing:\(other.id)", "/\(id)", token: other.token), "404 COMMAND_NOT_FOUND")
        for target in ["thing:th.nothing", self.thing.id, "user:\(self.thing.id)", "thing:"] {
            expectRefusal(self.call("GET", target: target, "/\(id)"), "404 TARGET_NOT_FOUND")
        }
    }

    /// The request nests as deeply as the emulator accepts. Stored and listed, the actions are some levels deeper.
    @Test mutating func commandsOutliveARestartHoweverDeep() throws {
        let deep = String(repeating: "[", count: 57) + String(repeating: "]", count: 57)
        let body = #"{"issuer":"user:\#(self.owner.id)","schema":"S","schemaVersion":1,"actions":[{"a":\#(deep)}]}"#
        let id = try self.sent(body)
        #expect(self.report(#"[{"a":{"succeeded":true}}]"#, of: id).status == 204)
        let tooDeep = body.replacing(deep, with: "[\(deep)]")
        expectRefusal(self.call("POST", type: Self.json, tooDeep), "400 INVALID_JSON")
        let list = self.call("GET").json
        #expect(list["commands"]?[0]?["commandState"]?.string == "DONE")
        var state = CloudState()
        for case .save(let table, _, let value) in self.kii.changes {
            let isUnderstood = state.load(table: table, value: try JSONValue(parsing: value.serialized()))
            #expect(isUnderstood)
        }
        self.kii = CloudHarness(state: state)
        #expect(self.call("GET").json == list)
    }
}
