import KiiPushCore
import KiiPushEmulator
import Testing

/// `POST /thing-if/apps/{appID}/onboardings`.
@Suite struct OnboardingTests {
    private var kii = CloudHarness()

    /// Sends an onboarding with the app's credentials alone, or with a token.
    private mutating func onboard(_ kind: String, token: String? = nil, _ body: JSONValue) -> Outcome {
        let type = HTTPField("Content-Type", "application/vnd.kii.\(kind)+json")
        let authorization =
            token.map { HTTPField("Authorization", "Bearer \($0)") }
            // base64("kiilocal:any")
            ?? HTTPField("Authorization", "Basic a2lpbG9jYWw6YW55")
        return self.kii.send("POST", "/thing-if/apps/kiilocal/onboardings", [type, authorization], body.text)
    }

    /// ebisu writes the properties as a string. The emulator stores them some levels deeper and parses them again after
    /// a restart.
    @Test mutating func propertiesInAStringAreNoDeeperThanABody() throws {
        for (levels, status) in [(60, 200), (61, 400)] {
            let text = String(repeating: #"{"a":"#, count: levels) + "1" + String(repeating: "}", count: levels)
            let body: JSONValue = [
                "vendorThingID": JSONValue("lamp-\(levels)"), "thingPassword": "p", "thingProperties": JSONValue(text),
            ]
            #expect(self.onboard("OnboardingWithVendorThingIDByThing", body).status == status, "\(levels)")
        }
        var state = CloudState()
        for case .save(let table, _, let value) in self.kii.changes {
            let isUnderstood = state.load(table: table, value: try JSONValue(parsing: value.serialized()))
            #expect(isUnderstood)
        }
    }

    @Test(
        arguments: [
            "OnboardingWithVendorThingIDByThing", "onboardingWithVendorThingIDByThing",
            "ONBOARDINGWITHVENDORTHINGIDBYTHING",
        ]
    )
    mutating func aThingOnboardsItself(kind: String) throws {
        let body: JSONValue = [
            "vendorThingID": "lamp-1", "thingPassword": "secret", "thingType": "lamp", "firmwareVersion": "v1",
            "layoutPosition": "STANDALONE", "thingProperties": ["colour": "red", "_own": 1],
        ]
        let outcome = self.onboard(kind, body)
        #expect(outcome.status == 200)
        #expect(outcome.type == "application/json")
        let id = try #require(outcome.json["thingID"]?.string)
        #expect(id.hasPrefix("th."))
        let token = try #require(outcome.json["accessToken"]?.string)
        let shown = self.kii.call("GET", "things/VENDOR_THING_ID:lamp-1", token: token).json
        let expected: JSONValue = [
            "_thingID": JSONValue(id), "_vendorThingID": "lamp-1", "_thingType": "lamp", "_firmwareVersion": "v1",
            "_layoutPosition": "STANDALONE", "colour": "red",
            "_created": JSONValue(CloudHarness.start.millisecondsSinceEpoch), "_disabled": false,
        ]
        #expect(shown == expected)
    }

    @Test mutating func theEndpointIsThatOfTheThingsInstallation() throws {
        self.kii.control("PATCH", "app", ["mqttTTL": 60, "endpointDelay": 30])
        let body: JSONValue = ["vendorThingID": "lamp-1", "thingPassword": "secret"]
        let outcome = self.onboard("OnboardingWithVendorThingIDByThing", body)
        let token = try #require(outcome.json["accessToken"]?.string)
        let endpoint = try #require(outcome.json["mqttEndpoint"])
        #expect(endpoint["X-MQTT-TTL"]?.int64 == 60)
        #expect(endpoint["ttl"]?.int64 == 60)
        #expect(outcome.effects.grants.map { $0.username } == [try #require(endpoint["username"]?.string)])
        self.kii.control("PATCH", "app", ["endpointDelay": 0])
        let installation = try #require(endpoint["installationID"]?.string)
        let fetched = self.kii.call("GET", "installations/\(installation)/mqtt-endpoint", token: token).json
        for member in fetched.members ?? [] { #expect(endpoint[member.key] == member.value) }
        #expect(fetched.members?.count == 10)
        let list = self.kii.call(
            "GET", "installations?thingID=\(outcome.json["thingID"]?.string ?? "")", token: token)
        #expect(list.json["installations"]?.array?.count == 1)
    }

    @Test mutating func onboardingAgainIsTheSameThingWithItsFirstPassword() throws {
        let body: JSONValue = ["vendorThingID": "lamp-1", "thingPassword": "secret"]
        let first = self.onboard("OnboardingWithVendorThingIDByThing", body).json
        let second = self.onboard("OnboardingWithVendorThingIDByThing", body).json
        #expect(second["thingID"] == first["thingID"])
        #expect(second["mqttEndpoint"] == first["mqttEndpoint"])
        #expect(second["accessToken"] != first["accessToken"])
        let wrong = self.onboard(
            "OnboardingWithVendorThingIDByThing", ["vendorThingID": "lamp-1", "thingPassword": "other"])
        expectRefusal(wrong, "401 WRONG_PASSWORD")
        #expect(wrong.json["principalID"] == first["thingID"])
        #expect(wrong.json["address"]?.string == "VENDOR_THING_ID:lamp-1")
        #expect(wrong.json["appID"]?.string == "kiilocal")
    }

    @Test mutating func anOwnerOnboardsAThingByEitherID() throws {
        let (owner, stranger) = (try self.kii.user(), try self.kii.user())
        let thing = try self.kii.thing("lamp-1")
        expectRefusal(self.kii.call("GET", "things/\(thing.id)", token: owner.token), "401 UNAUTHORIZED")
        let name = JSONValue("user:\(owner.id)")
        let byID = self.onboard(
            "OnboardingWithThingIDByOwner",
            token: owner.token,
            ["thingID": JSONValue(thing.id), "thingPassword": "secret", "owner": name]
        )
        #expect(byID.status == 200)
        #expect(byID.json["thingID"]?.string == thing.id)
        #expect(self.kii.call("GET", "things/\(thing.id)", token: owner.token).status == 200)
        let vendor: JSONValue = ["vendorThingID": "lamp-2", "thingPassword": "secret", "owner": name]
        let byVendorID = self.onboard("OnboardingWithVendorThingIDByOwner", token: owner.token, vendor)
        #expect(byVendorID.status == 200)
        #expect(self.kii.call("GET", "things/VENDOR_THING_ID:lamp-2", token: owner.token).status == 200)
        // Users onboard a thing for themselves only; the administrator does so for any owner.
        let admin = try self.kii.admin()
        expectRefusal(
            self.onboard("OnboardingWithVendorThingIDByOwner", token: stranger.token, vendor), "401 UNAUTHORIZED")
        expectRefusal(self.onboard("OnboardingWithVendorThingIDByOwner", vendor), "401 UNAUTHORIZED")
        #expect(self.onboard("OnboardingWithVendorThingIDByOwner", token: admin, vendor).status == 200)
        expectRefusal(
            self.kii.call("GET", "things/VENDOR_THING_ID:lamp-2", token: stranger.token), "401 UNAUTHORIZED")
    }

    @Test mutating func aGroupMayBeTheOwner() throws {
        let (member, other, stranger) = (try self.kii.user(), try self.kii.user(), try self.kii.user())
        let group = try self.kii.group(of: member, members: [other])
        let body: JSONValue = [
            "vendorThingID": "lamp-1", "thingPassword": "secret", "owner": JSONValue("group:\(group)"),
        ]
        expectRefusal(
            self.onboard("OnboardingWithVendorThingIDByOwner", token: stranger.token, body), "401 UNAUTHORIZED")
        #expect(self.onboard("OnboardingWithVendorThingIDByOwner", token: other.token, body).status == 200)
        let path = "things/VENDOR_THING_ID:lamp-1"
        #expect(self.kii.call("GET", path, token: member.token).status == 200)
        expectRefusal(self.kii.call("GET", path, token: stranger.token), "401 UNAUTHORIZED")
    }

    @Test(
        arguments: [
            ("OnboardingWithThingIDByOwner", #"{"thingID":"th.x","thingPassword":"p","owner":"me"}"#),
            ("OnboardingRequest", #"{"vendorThingID":"a","thingPassword":"p"}"#),
        ]
    )
    mutating func illegalOnboardingsLeaveNothingBehind(kind: String, body: String) throws {
        expectRefusal(self.onboard(kind, try JSONValue(parsing: body)), "400 INVALID_INPUT_DATA")
        #expect(self.kii.changes.isEmpty)
    }
}
