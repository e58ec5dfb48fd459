import KiiPushCore
import KiiPushEmulator
import Testing

/// The app's settings for tokens and user fields, and the members of answers about accounts.
@Suite struct AccountSettingTests {
    private var kii = CloudHarness()

    private mutating func register() throws -> String {
        let body: JSONValue = [
            "loginName": "ann", "displayName": "Ann", "emailAddress": "ann@example.com", "password": "secret",
        ]
        let outcome = self.kii.call("POST", "users", type: "RegistrationRequest", body)
        return try #require(outcome.json["userID"]?.string)
    }

    private mutating func registerWithToken(_ name: String) -> JSONValue {
        let body: JSONValue = ["loginName": JSONValue(name), "password": "secret"]
        return self.kii.call("POST", "users", type: "RegistrationAndAuthorizationRequest", body).json
    }

    private mutating func token(_ body: JSONValue) -> Outcome {
        self.kii.call("POST", "oauth2/token", type: "OauthTokenRequest", body)
    }

    @Test mutating func theTokenLifetimeIsForLoginsThatDoNotSay() throws {
        _ = try self.register()
        self.kii.control("PATCH", "app", ["tokenLifetime": 600])
        let login: JSONValue = ["username": "ann", "password": "secret"]
        let first = self.token(login).json
        #expect(first["expires_in"]?.int64 == 600)
        let expiresAt = (CloudHarness.start + .seconds(60)).millisecondsSinceEpoch
        let own: JSONValue = ["username": "ann", "password": "secret", "expiresAt": JSONValue(expiresAt)]
        #expect(self.token(own).json["expires_in"]?.int64 == 60)
        let pseudo = try self.kii.user()
        let thing = try self.kii.thing()
        let registered = self.registerWithToken("bob")["_accessToken"]?.string
        #expect(self.kii.call("GET", "users/me", token: registered).status == 200)
        self.kii.now = CloudHarness.start + .seconds(600)
        // The app's lifetime applies to the token of a registration too.
        expectRefusal(self.kii.call("GET", "users/me", token: registered), "403 WRONG_TOKEN")
        let access = first["access_token"]?.string
        expectRefusal(self.kii.call("GET", "users/me", token: access), "403 WRONG_TOKEN")
        expectRefusal(self.kii.call("GET", "things/\(thing.id)", token: thing.token), "403 WRONG_TOKEN")
        // A pseudo user's token does not expire, because it is the user's only credential.
        #expect(self.kii.call("GET", "users/me", token: pseudo.token).status == 200)
        // The refresh token outlives the access token. The new access token again has the app's lifetime.
        let refresh: JSONValue = ["grant_type": "refresh_token", "refresh_token": try #require(first["refresh_token"])]
        #expect(self.token(refresh).json["expires_in"]?.int64 == 600)
    }

    @Test(arguments: ["expiresAt", "expires_at"])
    mutating func aFormSaysWhenTheTokenEnds(name: String) throws {
        _ = try self.register()
        let expiresAt = (CloudHarness.start + .seconds(60)).millisecondsSinceEpoch
        let outcome = self.kii.raw(
            "POST",
            "/apps/kiilocal/oauth2/token",
            [
                HTTPField("Content-Type", "application/x-www-form-urlencoded"),
                HTTPField("X-Kii-AppID", "kiilocal"), HTTPField("X-Kii-AppKey", "any"),
            ],
            "grant_type=password&username=EMAIL%3Aann%40example.com&password=secret&\(name)=\(expiresAt)"
        )
        #expect(outcome.status == 200)
        #expect(outcome.json["expires_in"]?.int64 == 60)
    }

    @Test mutating func anEndBeyondAllTimeIsTold() throws {
        _ = try self.register()
        let outcome = self.token(["username": "ann", "password": "secret", "expiresAt": JSONValue(Int64.max)])
        #expect(outcome.status == 200)
        #expect(try #require(outcome.json["expires_in"]?.int64) > 9_000_000_000_000_000)
        let access = outcome.json["access_token"]?.string
        #expect(self.kii.call("GET", "users/me", token: access).status == 200)
    }

    @Test mutating func anAppWithoutRefreshTokensGivesAndTakesNone() throws {
        _ = try self.register()
        let before = self.token(["username": "ann", "password": "secret"]).json
        self.kii.control("PATCH", "app", ["refreshTokens": false])
        let bob = self.registerWithToken("bob")
        #expect(bob["_accessToken"] != nil && bob["_refreshToken"] == nil)
        #expect(self.token(["username": "ann", "password": "secret"]).json["refresh_token"] == nil)
        let refresh: JSONValue = [
            "grant_type": "refresh_token", "refresh_token": try #require(before["refresh_token"]),
        ]
        expectRefusal(self.token(refresh), "403 OPERATION_NOT_SUPPORTED")
        self.kii.control("PATCH", "app", ["refreshTokens": true])
        #expect(self.token(refresh).status == 200)
        expectRefusal(self.token(refresh), "403 WRONG_REFRESH_TOKEN")
    }

    @Test mutating func anotherUserSeesNoMoreThanNames() throws {
        let id = try self.register()
        let (other, admin) = (try self.kii.user(), try self.kii.admin())
        let names: JSONValue = ["userID": JSONValue(id), "loginName": "ann", "displayName": "Ann"]
        #expect(self.kii.call("GET", "users/\(id)", token: other.token).json == names)
        #expect(self.kii.call("GET", "users/\(id)", token: admin).json["emailAddress"]?.string == "ann@example.com")
    }

    @Test mutating func aPasswordIsChangedForTheRightOneAlone() throws {
        let id = try self.register()
        func change(_ kii: inout CloudHarness, _ token: String?, _ path: String, _ body: JSONValue) -> Outcome {
            kii.call("PUT", "users/\(path)/password", token: token, type: "ChangePasswordRequest", body)
        }
        let token = self.token(["username": "ann", "password": "secret"]).json["access_token"]?.string
        let wrong = change(&self.kii, token, "me", ["oldPassword": "wrong", "newPassword": "other"])
        expectRefusal(wrong, "401 WRONG_PASSWORD")
        #expect(wrong.json["principalID"]?.string == id)
        #expect(wrong.json["address"]?.string == "ann")
        #expect(wrong.json["appID"]?.string == "kiilocal")
        let short = change(&self.kii, token, "me", ["oldPassword": "secret", "newPassword": "abc"])
        expectRefusal(short, "400 PASSWORD_TOO_SHORT")
        #expect(short.json["minimumLength"]?.int64 == 4)
        let pseudo = try self.kii.user()
        expectRefusal(
            change(&self.kii, pseudo.token, id, ["oldPassword": "secret", "newPassword": "other"]), "401 UNAUTHORIZED")
        // The administrator needs no old password.
        let admin = try self.kii.admin()
        #expect(change(&self.kii, admin, id, ["newPassword": "other"]).status == 204)
        expectRefusal(self.kii.call("GET", "users/me", token: token), "403 WRONG_TOKEN")
        #expect(self.token(["username": "ann", "password": "other"]).status == 200)
    }

    @Test mutating func aNewPasswordEndsEveryToken() throws {
        _ = try self.register()
        let other = self.token(["username": "ann", "password": "secret"]).json
        let login = self.token(["username": "ann", "password": "secret"]).json
        let body: JSONValue = ["oldPassword": "secret", "newPassword": "other"]
        let token = login["access_token"]?.string
        let changed = self.kii.call("PUT", "users/me/password", token: token, type: "ChangePasswordRequest", body)
        #expect(changed.status == 204)
        for each in [other, login] {
            let access = each["access_token"]?.string
            expectRefusal(self.kii.call("GET", "users/me", token: access), "403 WRONG_TOKEN")
        }
        let refresh: JSONValue = ["grant_type": "refresh_token", "refresh_token": try #require(login["refresh_token"])]
        expectRefusal(self.token(refresh), "403 WRONG_REFRESH_TOKEN")
    }

    @Test mutating func unknownUnderscoreFieldsAreNotStored() throws {
        let user = self.kii.call("POST", "users", type: "RegistrationAndAuthorizationRequest", ["_own": 1, "own": 2])
        #expect(user.status == 201)
        #expect(user.json["_own"] == nil)
        #expect(user.json["own"]?.int64 == 2)
        let thing = self.kii.call(
            "POST",
            "things",
            type: "ThingRegistrationRequest",
            [
                "_vendorThingID": "a", "_password": "p", "_own": 1, "_stringField5": "s", "_numberField1": 7,
                "_stringField6": "x",
            ]
        )
        #expect(thing.status == 201)
        #expect(thing.json["_own"] == nil)
        #expect(thing.json["_stringField6"] == nil)
        #expect(thing.json["_stringField5"]?.string == "s")
        #expect(thing.json["_numberField1"]?.int64 == 7)
    }

    @Test(
        arguments: [
            ("users", "RegistrationAndAuthorizationRequest", #"{"phoneNumberVerified":"yes"}"#),
            ("things", "ThingRegistrationRequest", #"{"_vendorThingID":"a","_password":"p","_numberField1":"7"}"#),
        ]
    )
    mutating func knownFieldsHaveTheirTypes(path: String, type: String, body: String) throws {
        expectRefusal(
            self.kii.call("POST", path, type: type, try JSONValue(parsing: body)), "400 INVALID_INPUT_DATA")
    }

    @Test(arguments: [(64_509, 201), (64_510, 400)])
    mutating func customFieldsHaveALimit(count: Int, status: Int) {
        // The limit of 63 KiB is 64,512 bytes; the field's name takes 1 byte, the quotes 2.
        let body: JSONValue = ["a": JSONValue(String(repeating: "x", count: count)), "displayName": "Ann"]
        let outcome = self.kii.call("POST", "users", type: "RegistrationAndAuthorizationRequest", body)
        #expect(outcome.status == status)
    }

    @Test mutating func aMissingInstallationIsNamedByAllFourFields() throws {
        let user = try self.kii.user()
        let byID = self.kii.call("GET", "installations/none", token: user.token)
        let ofID: [(String, JSONValue)] = [
            ("installationID", "none"), ("appID", "kiilocal"), ("installationRegistrationID", nil),
            ("deviceType", nil),
        ]
        for (name, value) in ofID { #expect(byID.json[name] == value) }
        let byName = self.kii.call("DELETE", "installations/ANDROID:abc:d", token: user.token)
        let ofName: [(String, JSONValue)] = [
            ("installationID", nil), ("appID", "kiilocal"), ("installationRegistrationID", "abc:d"),
            ("deviceType", "ANDROID"),
        ]
        expectRefusal(byName, "404 INSTALLATION_NOT_FOUND")
        for (name, value) in ofName { #expect(byName.json[name] == value) }
    }

    @Test mutating func theCloudNamesMQTTInstallationsItself() throws {
        let (first, second) = (try self.kii.user(), try self.kii.user())
        let body: JSONValue = ["deviceType": "MQTT", "installationRegistrationID": "mine"]
        let answers = [first, second].map {
            self.kii.call("POST", "installations", token: $0.token, type: "InstallationCreationRequest", body)
        }
        #expect(answers.map { $0.status } == [201, 201])
        #expect(answers[0].json["installationID"] != answers[1].json["installationID"])
        #expect(answers.allSatisfy { $0.json["installationRegistrationID"]?.string != "mine" })
    }
}
