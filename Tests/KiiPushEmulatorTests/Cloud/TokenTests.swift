import KiiPushCore
import KiiPushEmulator
import Testing

@Suite struct TokenTests {
    private static func registered() throws -> CloudHarness {
        var kii = CloudHarness()
        let outcome = kii.call(
            "POST",
            "users",
            type: "RegistrationRequest",
            [
                "loginName": "ann", "emailAddress": "ann@example.com", "phoneNumber": "+819012345678",
                "country": "JP", "password": "secret",
            ]
        )
        try #require(outcome.status == 201)
        return kii
    }

    @Test(arguments: ["ann", "ann@example.com", "EMAIL:ann@example.com", "+819012345678", "PHONE:+819012345678"])
    func everyNameFormLogsIn(name: String) throws {
        var kii = try TokenTests.registered()
        let outcome = kii.call(
            "POST",
            "oauth2/token",
            type: "OauthTokenRequest",
            ["username": JSONValue(name), "password": "secret"]
        )
        #expect(outcome.status == 200)
        #expect(outcome.type == "application/json")
        #expect(outcome.json["token_type"]?.string == "Bearer")
        #expect(outcome.json["expires_in"]?.int64 == 2_147_483_647)
        let token = try #require(outcome.json["access_token"]?.string)
        let me = kii.call("GET", "users/me", token: token)
        #expect(me.json["userID"]?.string == outcome.json["id"]?.string)
    }

    @Test func aPhoneNumberLogsInWithItsCountry() throws {
        var kii = CloudHarness()
        kii.call(
            "POST",
            "users",
            type: "RegistrationRequest",
            ["phoneNumber": "09012345678", "country": "JP", "password": "secret"]
        )
        func login(_ name: String) -> Int {
            kii.call(
                "POST",
                "oauth2/token",
                type: "OauthTokenRequest",
                ["username": JSONValue(name), "password": "secret"]
            ).status
        }
        #expect(login("PHONE:JP-09012345678") == 200)
        #expect(login("PHONE:US-09012345678") == 400)
    }

    @Test(arguments: [("ann", "wrong"), ("nobody", "secret"), ("VENDOR_THING_ID:none", "secret")])
    func wrongNamesAndPasswordsAreRefused(name: String, password: String) throws {
        var kii = try TokenTests.registered()
        let outcome = kii.call(
            "POST",
            "oauth2/token",
            type: "OauthTokenRequest",
            ["username": JSONValue(name), "password": JSONValue(password)]
        )
        expectRefusal(outcome, "400 invalid_grant")
        // The whole body of Kii's answer; clients read `error` or `errorCode`.
        #expect(
            outcome.json == [
                "errorCode": "invalid_grant", "error": "invalid_grant",
                "error_description": "The user was not found or a wrong password was provided",
            ])
        #expect(outcome.type == "application/json")
    }

    @Test func aPseudoUserCannotLogInWithoutAPassword() throws {
        var kii = CloudHarness()
        kii.call("POST", "users", type: "RegistrationAndAuthorizationRequest", ["loginName": "ghost"])
        let outcome = kii.call(
            "POST",
            "oauth2/token",
            type: "OauthTokenRequest",
            ["username": "ghost", "password": ""]
        )
        expectRefusal(outcome, "400 invalid_grant")
    }

    @Test func aRefreshReplacesBothTokensAndWorksOnce() throws {
        var kii = try TokenTests.registered()
        let login = kii.call(
            "POST",
            "oauth2/token",
            type: "OauthTokenRequest",
            ["username": "ann", "password": "secret"]
        ).json
        let refresh: JSONValue = [
            "grant_type": "refresh_token", "refresh_token": try #require(login["refresh_token"]),
        ]
        let second = kii.call("POST", "oauth2/token", type: "OauthTokenRequest", refresh)
        #expect(second.status == 200)
        #expect(second.json["refresh_token"]?.string != login["refresh_token"]?.string)
        expectRefusal(kii.call("GET", "users/me", token: login["access_token"]?.string), "403 WRONG_TOKEN")
        #expect(kii.call("GET", "users/me", token: second.json["access_token"]?.string).status == 200)
        expectRefusal(
            kii.call("POST", "oauth2/token", type: "OauthTokenRequest", refresh),
            "403 WRONG_REFRESH_TOKEN"
        )
    }

    @Test func aTokenEndsWhenItsTimeHasCome() throws {
        var kii = try TokenTests.registered()
        let expiresAt = CloudHarness.start + .seconds(60)
        let login = kii.call(
            "POST",
            "oauth2/token",
            type: "OauthTokenRequest",
            [
                "username": "ann", "password": "secret",
                "expiresAt": JSONValue(expiresAt.millisecondsSinceEpoch),
            ]
        ).json
        #expect(login["expires_in"]?.int64 == 60)
        kii.now = CloudHarness.start + .milliseconds(59_999)
        #expect(kii.call("GET", "users/me", token: login["access_token"]?.string).status == 200)
        kii.now = expiresAt
        expectRefusal(kii.call("GET", "users/me", token: login["access_token"]?.string), "403 WRONG_TOKEN")
    }

    @Test func theAdministratorHasNoID() throws {
        var kii = CloudHarness()
        let outcome = kii.call(
            "POST",
            "oauth2/token",
            type: "OauthTokenRequest",
            [
                "client_id": JSONValue(kii.app.clientID),
                "client_secret": JSONValue(kii.app.clientSecret.reveal()), "grant_type": "client_credentials",
            ]
        )
        #expect(outcome.status == 200)
        #expect(outcome.json["id"] == nil)
        #expect(outcome.json["refresh_token"]?.string?.isEmpty == false)
    }

    @Test func anAnonymousTokenRegistersButDoesNoMore() throws {
        var kii = CloudHarness()
        let outcome = kii.call(
            "POST",
            "oauth2/token",
            type: "OauthTokenRequest",
            [
                "client_id": JSONValue(kii.app.appID), "client_secret": JSONValue(kii.app.appKey.reveal()),
                "grant_type": "client_credentials",
            ]
        )
        let token = try #require(outcome.json["access_token"]?.string)
        let user = kii.call("POST", "users", token: token, type: "RegistrationAndAuthorizationRequest", [:])
        #expect(user.status == 201)
        expectRefusal(kii.call("GET", "topics", token: token), "401 UNAUTHORIZED")
    }
}
