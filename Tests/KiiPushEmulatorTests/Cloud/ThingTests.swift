import KiiPushCore
import KiiPushEmulator
import Testing

@Suite struct ThingTests {
    @Test func registrationWithAuthorizationAnswersWithAToken() throws {
        var kii = CloudHarness()
        let outcome = kii.call(
            "POST",
            "things",
            type: "ThingRegistrationAndAuthorizationRequest",
            ["_vendorThingID": "lamp-1", "_password": "secret", "_thingType": "lamp", "colour": "red"]
        )
        #expect(outcome.status == 201)
        #expect(outcome.type == "application/vnd.kii.ThingRegistrationAndAuthorizationResponse+json")
        let id = try #require(outcome.json["_thingID"]?.string)
        #expect(id.hasPrefix("th."))
        #expect(outcome.json["_vendorThingID"]?.string == "lamp-1")
        #expect(outcome.json["_thingType"]?.string == "lamp")
        #expect(outcome.json["_created"]?.int64 == CloudHarness.start.millisecondsSinceEpoch)
        #expect(outcome.json["_password"] == nil)
        let token = try #require(outcome.json["_accessToken"]?.string)
        for path in ["things/\(id)", "things/VENDOR_THING_ID:lamp-1"] {
            let shown = kii.call("GET", path, token: token)
            #expect(shown.json["_thingID"]?.string == id)
            #expect(shown.json["colour"]?.string == "red")
        }
    }

    @Test func registrationAloneAnswersWithoutATokenAndTheThingLogsIn() throws {
        var kii = CloudHarness()
        let outcome = kii.call(
            "POST",
            "things",
            type: "ThingRegistrationRequest",
            ["_vendorThingID": "lamp-1", "_password": "secret"]
        )
        #expect(outcome.status == 201)
        #expect(outcome.type == "application/vnd.kii.ThingRegistrationResponse+json")
        #expect(outcome.json["_accessToken"] == nil)
        let login = kii.call(
            "POST",
            "oauth2/token",
            type: "OauthTokenRequest",
            ["username": "VENDOR_THING_ID:lamp-1", "password": "secret"]
        )
        #expect(login.status == 200)
        #expect(login.json["id"]?.string == outcome.json["_thingID"]?.string)
    }

    @Test func aTakenVendorThingIDIsRefused() throws {
        var kii = CloudHarness()
        _ = try kii.thing("lamp-1")
        let outcome = kii.call(
            "POST",
            "things",
            type: "ThingRegistrationRequest",
            ["_vendorThingID": "lamp-1", "_password": "other"]
        )
        expectRefusal(outcome, "409 THING_ALREADY_EXISTS")
        #expect(outcome.json["field"]?.string == "vendorThingID")
    }

    @Test func aThingNeedsAName() {
        var kii = CloudHarness()
        let body: JSONValue = ["_vendorThingID": "", "_password": "p"]
        let outcome = kii.call("POST", "things", type: "ThingRegistrationRequest", body)
        expectRefusal(outcome, "400 INVALID_INPUT_DATA")
    }

    @Test func aThingIsItsOwnAndItsOwners() throws {
        var kii = CloudHarness()
        let (thing, owner, friend, stranger) = (try kii.thing(), try kii.user(), try kii.user(), try kii.user())
        expectRefusal(kii.call("GET", "things/\(thing.id)", token: owner.token), "401 UNAUTHORIZED")
        let added = kii.call("PUT", "things/\(thing.id)/ownership/user:\(owner.id)", token: thing.token)
        #expect(added.status == 204)
        #expect(kii.call("GET", "things/\(thing.id)", token: owner.token).status == 200)
        expectRefusal(kii.call("GET", "things/\(thing.id)", token: stranger.token), "401 UNAUTHORIZED")
        expectRefusal(
            kii.call("PUT", "things/\(thing.id)/ownership/user:\(friend.id)", token: stranger.token),
            "401 UNAUTHORIZED"
        )
        let missing = kii.call("GET", "things/VENDOR_THING_ID:none", token: owner.token)
        expectRefusal(missing, "404 THING_NOT_FOUND")
        #expect(missing.json["field"]?.string == "vendorThingID")
    }

    // MARK: - The connection

    @Test func aThingSaysWhetherItIsConnectedAndSinceWhen() throws {
        var kii = CloudHarness()
        let thing = try kii.thing()
        let topic = try kii.installation(of: thing).topic
        let name = String(topic.dropFirst("push/".count))
        func fields() -> [JSONValue] {
            let shown = kii.call("GET", "things/VENDOR_THING_ID:lamp-1", token: thing.token).json
            return [shown["_online"], shown["_onlineStatusModifiedAt"]].compactMap { $0 }
        }
        // The emulated cloud has no source of presence yet.
        #expect(fields().isEmpty)
        let changedAt = Timestamp(millisecondsSinceEpoch: 7000)
        kii.cloud.presence = { ["somebody": .init(connections: 1, changedAt: changedAt)] }
        #expect(fields().isEmpty)
        for (connections, isOnline) in [(1, true), (0, false)] {
            kii.cloud.presence = { [name: .init(connections: connections, changedAt: changedAt)] }
            #expect(fields() == [JSONValue(isOnline), 7000])
        }
    }

    @Test func aThingWithoutAnInstallationHasNoConnection() throws {
        var kii = CloudHarness()
        let thing = try kii.thing()
        kii.cloud.presence = { [:] }
        #expect(kii.call("GET", "things/\(thing.id)", token: thing.token).json["_online"] == nil)
    }
}
