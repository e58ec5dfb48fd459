import KiiPushCore
import KiiPushEmulator
import Testing

@Suite struct ControlTests {
    @Test(
        arguments: [
            ("GET", "app"), ("PATCH", "app"), ("PATCH", "users/none"), ("PATCH", "things/none"),
            ("POST", "installations/none/rotate"), ("GET", "faults"), ("POST", "faults"), ("DELETE", "faults"),
            ("POST", "reset"), ("GET", "principals"), ("GET", "installations"), ("GET", "topics"),
            ("GET", "subscriptions"), ("GET", "buckets"), ("GET", "messages"), ("GET", "messages/none"),
        ]
    )
    func onlyTheAdministratorIsServed(method: String, path: String) throws {
        var kii = CloudHarness()
        let user = try kii.user()
        let app = HTTPField("X-Kii-AppID", kii.app.appID)
        for fields in [
            [], [HTTPField("Authorization", "Bearer \(user.token)")], [app, HTTPField("X-Kii-AppKey", "k")],
        ] {
            expectRefusal(kii.send(method, "/__kii/\(path)", fields, "{}"), "401 UNAUTHORIZED")
        }
        let admin = HTTPField("Authorization", "Bearer \(try kii.admin())")
        #expect(kii.send(method, "/__kii/\(path)", [admin], "{}").status != 401)
    }

    @Test func theSettingsAreShownAndMergedMemberByMember() {
        var kii = CloudHarness()
        let before: JSONValue = [
            "appID": "kiilocal", "disabled": false, "endpointDelay": 0, "mqttTTL": nil, "tokenLifetime": nil,
            "refreshTokens": true, "requirePasswordForThingOwnership": false, "requestLimit": nil,
            "networks": ["gcm": true, "fcm": true, "apns": true, "jpush": true],
        ]
        #expect(kii.control("GET", "app").json == before)
        let changed = kii.control(
            "PATCH",
            "app",
            [
                "endpointDelay": 1.5, "mqttTTL": 60, "requestLimit": ["requests": 9, "seconds": 2],
                "requirePasswordForThingOwnership": true, "networks": ["apns": false],
            ]
        )
        let after: JSONValue = [
            "appID": "kiilocal", "disabled": false, "endpointDelay": 1.5, "mqttTTL": 60, "tokenLifetime": nil,
            "refreshTokens": true, "requirePasswordForThingOwnership": true,
            "requestLimit": ["requests": 9, "seconds": 2],
            "networks": ["gcm": true, "fcm": true, "apns": false, "jpush": true],
        ]
        #expect(changed.status == 200)
        #expect(changed.json == after)
        #expect(kii.control("GET", "app").json == after)
        let back: JSONValue = [
            "endpointDelay": 0, "mqttTTL": nil, "requirePasswordForThingOwnership": false, "requestLimit": nil,
            "networks": ["apns": true],
        ]
        #expect(kii.control("PATCH", "app", back).json == before)
    }

    @Test(
        arguments: [
            (#"{"disable":true}"#, "/disable "), (#"{"disabled":"yes"}"#, "/disabled "),
            (#"{"endpointDelay":-1}"#, "/endpointDelay "), (#"{"endpointDelay":1e300}"#, "/endpointDelay "),
            (#"{"mqttTTL":0}"#, "/mqttTTL "), (#"{"tokenLifetime":"1"}"#, "/tokenLifetime "),
            (#"{"requestLimit":{"requests":0,"seconds":1}}"#, "/requestLimit/requests "),
            (#"{"requestLimit":{"requests":1}}"#, "requestLimit needs"), (#"{"requestLimit":7}"#, "/requestLimit "),
            (#"{"networks":{"mqtt":true}}"#, "/networks/mqtt "), (#"{"networks":[]}"#, "/networks "),
        ]
    )
    func whatIsNotASettingIsNamedAndNothingIsChanged(body: String, name: String) throws {
        var kii = CloudHarness()
        let before = kii.control("GET", "app").json
        var members = try #require(try JSONValue(parsing: body).members)
        members.insert(JSONMember(key: "refreshTokens", value: false), at: 0)
        let outcome = kii.control("PATCH", "app", JSONValue(members: members))
        expectRefusal(outcome, "400 INVALID_INPUT_DATA")
        #expect(outcome.json["message"]?.string?.hasPrefix(name) == true)
        #expect(kii.control("GET", "app").json == before)
    }

    @Test func aDisabledAppRefusesEverybodyButTheControls() throws {
        var kii = CloudHarness()
        let (user, admin) = (try kii.user(), try kii.admin())
        kii.control("PATCH", "app", ["disabled": true])
        for token in [user.token, admin] {
            expectRefusal(kii.call("GET", "topics", token: token), "403 APP_DISABLED")
        }
        expectRefusal(kii.call("POST", "users"), "403 APP_DISABLED")
        expectRefusal(kii.raw("POST", "/oauth2/token", []), "403 APP_DISABLED")
        kii.control("PATCH", "app", ["disabled": false])
        #expect(kii.call("GET", "users/me", token: user.token).status == 200)
    }

    @Test func aDisabledUserCanDoNothingUntilEnabled() throws {
        var kii = CloudHarness()
        let name: JSONValue = ["loginName": "ann", "password": "secret"]
        kii.call("POST", "users", type: "RegistrationRequest", name)
        let credentials: JSONValue = ["username": "ann", "password": "secret"]
        let login = kii.call("POST", "oauth2/token", type: "OauthTokenRequest", credentials).json
        let id = try #require(login["id"]?.string)
        let token = try #require(login["access_token"]?.string)
        let refresh: JSONValue = ["grant_type": "refresh_token", "refresh_token": try #require(login["refresh_token"])]
        let disabled = kii.control("PATCH", "users/\(id)", ["disabled": true])
        #expect(disabled.json == ["userID": JSONValue(id), "disabled": true])
        expectRefusal(kii.call("GET", "users/me", token: token), "401 USER_DISABLED")
        expectRefusal(
            kii.call("POST", "oauth2/token", type: "OauthTokenRequest", credentials), "401 USER_DISABLED")
        expectRefusal(kii.call("POST", "oauth2/token", type: "OauthTokenRequest", refresh), "401 USER_DISABLED")
        let wrong: JSONValue = ["username": "ann", "password": "wrong"]
        expectRefusal(kii.call("POST", "oauth2/token", type: "OauthTokenRequest", wrong), "400 invalid_grant")
        kii.control("PATCH", "users/LOGIN_NAME:ann", ["disabled": false])
        #expect(kii.call("GET", "users/me", token: token).status == 200)
        #expect(kii.call("POST", "oauth2/token", type: "OauthTokenRequest", refresh).status == 200)
    }

    @Test func aRequestLimitCountsFromTheFirstRequestOn() throws {
        var kii = CloudHarness()
        let user = try kii.user()
        kii.control("PATCH", "app", ["requestLimit": ["requests": 2, "seconds": 3]])
        func ask() -> Outcome { kii.call("GET", "users/me", token: user.token) }
        #expect(ask().status == 200)
        kii.now = CloudHarness.start + .milliseconds(1500)
        #expect(ask().status == 200)
        let refused = ask()
        expectRefusal(refused, "429 TOO_MANY_REQUESTS")
        #expect(refused.response.field("Retry-After") == "2")
        #expect(refused.json["retryAfter"]?.int64 == 2)
        #expect(kii.control("GET", "app").status == 200)
        kii.now = CloudHarness.start + .milliseconds(3500)
        #expect(ask().status == 200)
        #expect(ask().status == 200)
        expectRefusal(ask(), "429 TOO_MANY_REQUESTS")
        kii.control("PATCH", "app", ["requestLimit": nil])
        #expect(ask().status == 200)
    }

    @Test func rotationGivesAnotherChannelAtOnce() throws {
        var kii = CloudHarness()
        let user = try kii.user()
        let installation = try kii.installation(of: user)
        let path = "installations/\(installation.id)"
        let before = kii.call("GET", "\(path)/mqtt-endpoint", token: user.token).json
        let rotated = kii.control("POST", "\(path)/rotate")
        #expect(rotated.status == 200)
        #expect(rotated.effects.revocations == [try #require(before["username"]?.string)])
        let after = kii.call("GET", "\(path)/mqtt-endpoint", token: user.token).json
        #expect(after["mqttTopic"] == rotated.json["mqttTopic"])
        for field in ["mqttTopic", "username", "password"] { #expect(after[field] != before[field]) }
        #expect(after["installationID"] == before["installationID"])
    }

    @Test func aResetForgetsAllButTheAppAndItsSettings() throws {
        var world = try TopicTests.World()
        let installation = try world.kii.installation(of: world.user)
        world.kii.call("PUT", "topics/x", token: world.admin)
        world.kii.control("PATCH", "app", ["mqttTTL": 60])
        let path = "installations/\(installation.id)/mqtt-endpoint"
        let endpoint = world.kii.call("GET", path, token: world.user.token).json["username"]?.string
        world.kii.control("POST", "faults", ["status": 500, "times": 100])
        world.kii.changes = []
        let reset = world.kii.control("POST", "reset")
        #expect(reset.status == 204)
        #expect(reset.effects.revocations == [try #require(endpoint)])
        #expect(world.kii.changes == [.removeAll])
        #expect(world.kii.control("GET", "app").json["mqttTTL"]?.int64 == 60)
        #expect(world.kii.control("GET", "faults").json["faults"] == [])
        expectRefusal(world.kii.call("GET", "users/me", token: world.user.token), "403 WRONG_TOKEN")
        expectRefusal(world.kii.call("GET", "topics/x", token: try world.kii.admin()), "404 TOPIC_NOT_FOUND")
        // The vendor's ID `lamp-1` is free again.
        #expect(try world.kii.thing().id != world.thing.id)
    }
}
