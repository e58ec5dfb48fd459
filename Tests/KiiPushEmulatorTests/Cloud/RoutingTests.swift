import KiiPushCore
import KiiPushEmulator
import Testing

@Suite struct RoutingTests {
    @Test(
        arguments: [
            "/nowhere", "/", "", "/apps", "/apps/kiilocal", "/apps/kiilocal/", "/apps/kiilocal/nowhere",
            "/apps/kiilocal/../kiilocal/users/me", "/apps//users/me", "/apps/kiilocal/users%2Fme",
        ]
    )
    func unknownPathsAreNotFound(path: String) throws {
        var kii = CloudHarness()
        let user = try kii.user()
        let outcome = kii.raw("GET", path, [HTTPField("Authorization", "Bearer \(user.token)")])
        #expect(outcome.status == 404)
        #expect(outcome.json["errorCode"]?.string?.hasSuffix("NOT_FOUND") == true)
    }

    /// Kii's JavaScript SDK writes such paths.
    @Test func emptySegmentsOfAPathMeanNothing() throws {
        var kii = CloudHarness()
        let user = try kii.user()
        for path in ["/users/me", "users/me/", "/users//me//"] {
            #expect(kii.call("GET", path, token: user.token).status == 200, "\(path)")
        }
        let filter = "/users/\(user.id)/buckets/notes/filters/all/push/subscriptions/users/\(user.id)"
        #expect(kii.call("PUT", filter, token: user.token).status == 204)
        #expect(kii.call("POST", "users/me/buckets/notes/objects/", token: user.token, type: "note", [:]).status == 201)
        #expect(kii.call("GET", "topics/", token: user.token).status == 200)
        // Without an ID, the path names the list of topics, which has no PUT.
        expectRefusal(kii.call("PUT", "topics//", token: user.token), "405 METHOD_NOT_ALLOWED")
    }

    @Test func anotherAppIsNotFound() {
        var kii = CloudHarness()
        expectRefusal(kii.raw("GET", "/apps/other/users/me", []), "404 APP_NOT_FOUND")
    }

    @Test(arguments: [("PUT", "users/me"), ("POST", "topics/news"), ("BREW", "installations"), ("PUT", "users")])
    func wrongMethodsAreNamed(method: String, path: String) throws {
        var kii = CloudHarness()
        let user = try kii.user()
        let outcome = kii.call(method, path, token: user.token)
        expectRefusal(outcome, "405 METHOD_NOT_ALLOWED")
        #expect(outcome.response.field("Allow")?.isEmpty == false)
    }

    @Test(
        arguments: [
            ("/api/apps/kiilocal/users", ["RegistrationRequest", "RegistrationAndAuthorizationRequest"], true),
            (
                "/api/apps/kiilocal/things",
                ["ThingRegistrationRequest", "ThingRegistrationAndAuthorizationRequest"], true
            ),
            ("/api/apps/kiilocal/oauth2/token", ["OauthTokenRequest"], true),
            ("/api/apps/kiilocal/installations", ["InstallationCreationRequest"], true),
            (
                "/thing-if/apps/kiilocal/onboardings",
                [
                    "OnboardingWithVendorThingIDByThing", "OnboardingWithThingIDByThing",
                    "OnboardingWithVendorThingIDByOwner", "OnboardingWithThingIDByOwner",
                ], false
            ),
        ]
    )
    func allMediaTypesThatACallTakesAreNamed(path: String, names: [String], isPlainTaken: Bool) throws {
        var kii = CloudHarness()
        let user = try kii.user()
        let fields = [HTTPField("Authorization", "Bearer \(user.token)"), HTTPField("Content-Type", "text/plain")]
        let refused = kii.send("POST", path, fields, "{}")
        expectRefusal(refused, "400 INVALID_INPUT_DATA")
        let message = try #require(refused.json["message"]?.string)
        for name in names { #expect(message.contains("application/vnd.kii.\(name)+json"), "\(message)") }
        #expect(message.contains("application/json") == isPlainTaken, "\(message)")
        #expect(message.contains("x-www-form-urlencoded") == path.hasSuffix("token"), "\(message)")
    }

    @Test(arguments: [
        ("users/me", "DELETE, GET, HEAD, POST"), ("topics/news", "PUT, DELETE, GET, HEAD"), ("users", "POST"),
    ])
    func theMethodsThatAPathHasAreNamed(path: String, methods: String) throws {
        var kii = CloudHarness()
        let user = try kii.user()
        let allowed = try #require(kii.call("BREW", path, token: user.token).response.field("Allow"))
        #expect(Set(allowed.split(separator: ", ")) == Set(methods.split(separator: ", ")), "\(allowed)")
    }

    @Test(arguments: ["users/%", "users/%2", "users/%zz", "users/%ff", "topics?paginationKey=%g0"])
    func brokenPercentEncodingIsRefused(path: String) throws {
        var kii = CloudHarness()
        let user = try kii.user()
        expectRefusal(kii.call("GET", path, token: user.token), "400 INVALID_INPUT_DATA")
    }

    @Test func anEncodedPathIsDecoded() throws {
        var kii = CloudHarness()
        let user = try kii.user()
        #expect(kii.call("GET", "%75sers/m%65", token: user.token).status == 200)
    }

    @Test(arguments: ["", "{", "[1,2", "\u{0}", "{\"a\":1}x", "nul"])
    func malformedBodiesAreRefused(body: String) {
        var kii = CloudHarness()
        let outcome = kii.raw(
            "POST",
            "/apps/\(kii.app.appID)/users",
            [
                HTTPField("X-Kii-AppID", kii.app.appID), HTTPField("X-Kii-AppKey", "k"),
                HTTPField("Content-Type", "application/json"),
            ],
            body
        )
        expectRefusal(outcome, "400 INVALID_JSON")
    }

    @Test(arguments: ["[]", "1", "\"x\"", "null"])
    func aBodyThatIsNoObjectIsRefused(body: String) throws {
        var kii = CloudHarness()
        let outcome = kii.call(
            "POST",
            "users",
            type: "RegistrationAndAuthorizationRequest",
            try JSONValue(parsing: body)
        )
        expectRefusal(outcome, "400 INVALID_INPUT_DATA")
    }

    @Test(
        arguments: [
            "application/vnd.kii.installationcreationrequest+json",
            "Application/Vnd.Kii.InstallationCreationRequest+JSON; charset=utf-8", "application/json",
        ]
    )
    func mediaTypesAreComparedWithoutRegardToCase(type: String) throws {
        var kii = CloudHarness()
        let user = try kii.user()
        let outcome = kii.raw(
            "POST",
            "/apps/\(kii.app.appID)/installations",
            [HTTPField("Authorization", "Bearer \(user.token)"), HTTPField("content-type", type)],
            #"{"deviceType":"MQTT"}"#
        )
        #expect(outcome.status == 201)
    }

    @Test(arguments: ["text/plain", "application/vnd.kii.RegistrationRequest+json", ""])
    func otherMediaTypesAreRefused(type: String) throws {
        var kii = CloudHarness()
        let user = try kii.user()
        let outcome = kii.raw(
            "POST",
            "/apps/\(kii.app.appID)/installations",
            [HTTPField("Authorization", "Bearer \(user.token)"), HTTPField("Content-Type", type)],
            #"{"deviceType":"MQTT"}"#
        )
        expectRefusal(outcome, "400 INVALID_INPUT_DATA")
    }

    @Test func headIsGetWithoutTheBody() throws {
        var kii = CloudHarness()
        let user = try kii.user()
        #expect(kii.call("HEAD", "users/me", token: user.token).status == 200)
    }
}
