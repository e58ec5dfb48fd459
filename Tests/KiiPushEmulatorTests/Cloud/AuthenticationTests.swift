import KiiPushCore
import KiiPushEmulator
import Testing

@Suite struct AuthenticationTests {
    private static func basic(_ text: String) -> String { "Basic \(Base64Text.encode(text))" }

    private static func register(_ kii: inout CloudHarness, _ fields: [HTTPField]) -> Outcome {
        let type = HTTPField("Content-Type", "application/vnd.kii.RegistrationAndAuthorizationRequest+json")
        return kii.raw("POST", "/apps/\(kii.app.appID)/users", [type] + fields, "{}")
    }

    @Test func strictComparesKeys() throws {
        var kii = CloudHarness(strict: true)
        let app = kii.app
        let wrong = HTTPField("Authorization", AuthenticationTests.basic("\(app.appID):whatever"))
        expectRefusal(AuthenticationTests.register(&kii, [wrong]), "401 UNAUTHORIZED")
        let right = HTTPField("Authorization", AuthenticationTests.basic("\(app.appID):\(app.appKey.reveal())"))
        #expect(AuthenticationTests.register(&kii, [right]).status == 201)
        let user = try kii.user()
        let fields = [HTTPField("Authorization", "Bearer \(user.token)"), HTTPField("X-Kii-AppKey", "k")]
        expectRefusal(kii.raw("GET", "/apps/\(app.appID)/users/me", fields), "401 UNAUTHORIZED")
    }

    @Test(arguments: [false, true])
    func onlyStrictLooksAtTheSecretOfAnAnonymousLogin(strict: Bool) {
        var kii = CloudHarness(strict: strict)
        let login: JSONValue = [
            "grant_type": "client_credentials", "client_id": JSONValue(kii.app.appID), "client_secret": "dummy",
        ]
        let outcome = kii.call("POST", "oauth2/token", type: "OauthTokenRequest", login)
        #expect(outcome.refusal == (strict ? "400 invalid_client" : "200 "))
    }

    @Test(arguments: ["Basic !!!", "Basic", "Bearer", "Digest x", "", "Basic bm9ib2R5Ong="])
    func otherCredentialsAreRefused(value: String) {
        var kii = CloudHarness()
        let outcome = AuthenticationTests.register(&kii, [HTTPField("Authorization", value)])
        expectRefusal(outcome, "401 UNAUTHORIZED")
    }

    @Test func aRefusalNamesWhoWasRefused() throws {
        var kii = CloudHarness()
        let user = try kii.user()
        let outcome = kii.call("PUT", "topics/news", token: user.token)
        expectRefusal(outcome, "401 UNAUTHORIZED")
        #expect(outcome.json["authenticatedAppID"]?.string == kii.app.appID)
        #expect(outcome.json["authenticatedPrincipalID"]?.string == user.id)
    }
}
