import KiiPushCore
import Testing

private let tokenReply = #"{"id":"u1","access_token":"at","expires_in":3600,"token_type":"Bearer","new":{"x":1}}"#

let accountCalls: [EndpointRow] = [
    EndpointRow(
        name: "register a user", method: "POST", target: "/apps/a1/users", authorization: basicField,
        mediaType: vendorPrefix + "RegistrationRequest+json",
        body: #"{"loginName":"alice","password":"pass word","displayName":"Al","age":7}"#,
        successes: [200, 201], reply: #"{"userID":"u1","loginName":"alice","_hasPassword":true}"#,
        refusals: [(409, "USER_ALREADY_EXISTS"), (400, "INVALID_INPUT_DATA")]
    ) { client in
        let registration = UserRegistration(
            loginName: "alice", password: "pass word",
            profile: UserProfile(displayName: "Al", customFields: ["age": 7]))
        let user = try await client.registerUser(registration)
        #expect(user == RegisteredUser(userID: "u1", loginName: "alice"))
    },
    EndpointRow(
        name: "register a pseudo user", method: "POST", target: "/apps/a1/users", authorization: basicField,
        mediaType: vendorPrefix + "RegistrationAndAuthorizationRequest+json", body: "{}",
        successes: [200, 201], reply: #"{"userID":"u1","_accessToken":"at","_refreshToken":"rt"}"#,
        refusals: [(403, "OPERATION_NOT_SUPPORTED")]
    ) { client in
        let token = try await client.registerPseudoUser()
        #expect(token == AccessToken(principal: .user("u1"), token: "at", refreshToken: "rt"))
    },
    EndpointRow(
        name: "register a thing with a token", method: "POST", target: "/apps/a1/things", authorization: basicField,
        mediaType: vendorPrefix + "ThingRegistrationAndAuthorizationRequest+json",
        body: #"{"_vendorThingID":"v-1","_password":"pw","_thingType":"lamp","_vendor":"ACME"}"#,
        successes: [200, 201],
        reply: #"{"_thingID":"th.1","_accessToken":"at","_created":1000,"_vendorThingID":"v-1"}"#,
        refusals: [(409, "THING_ALREADY_EXISTS")]
    ) { client in
        let thing = try await client.registerThing(
            ThingRegistration(vendorThingID: "v-1", password: "pw", thingType: "lamp", fields: ["_vendor": "ACME"]))
        #expect(thing.accessToken == AccessToken(principal: .thing("th.1"), token: "at"))
        #expect(thing.createdAt == Timestamp(millisecondsSinceEpoch: 1000))
    },
    EndpointRow(
        name: "register a thing without a token", method: "POST", target: "/apps/a1/things", authorization: basicField,
        mediaType: vendorPrefix + "ThingRegistrationRequest+json", body: #"{"_vendorThingID":"v-1","_password":"pw"}"#,
        successes: [200, 201], reply: #"{"_thingID":"th.1"}"#, refusals: [(409, "THING_ALREADY_EXISTS")]
    ) { client in
        let registration = ThingRegistration(vendorThingID: "v-1", password: "pw")
        let thing = try await client.execute(RegisterThing(registration, grantsToken: false))
        #expect(thing.thingID == "th.1" && thing.accessToken == nil)
    },
    EndpointRow(
        name: "sign in a user", method: "POST", target: "/apps/a1/oauth2/token", authorization: basicField,
        mediaType: vendorPrefix + "OauthTokenRequest+json",
        body: #"{"grant_type":"password","username":"alice","password":"pw"}"#, successes: [200], reply: tokenReply,
        refusals: [(400, "OAUTH2_ERROR"), (401, "AUTHENTICATION_FAILED"), (401, "WRONG_PASSWORD")]
    ) { client in
        let token = try await client.login(username: "alice", password: "pw")
        let end = Timestamp(millisecondsSinceEpoch: 1_000_003_600_000)
        #expect(token == AccessToken(principal: .user("u1"), token: "at", expiresAt: end))
    },
    EndpointRow(
        name: "sign in a user until a moment", method: "POST", target: "/apps/a1/oauth2/token",
        authorization: basicField,
        mediaType: vendorPrefix + "OauthTokenRequest+json",
        body: #"{"grant_type":"password","username":"alice","password":"pw","expiresAt":9007199254740993}"#,
        successes: [200], reply: tokenReply, refusals: []
    ) { client in
        let end = Timestamp(millisecondsSinceEpoch: 9_007_199_254_740_993)
        _ = try await client.login(.user(name: "alice", password: "pw"), expiresAt: end)
    },
    EndpointRow(
        name: "sign in a thing", method: "POST", target: "/apps/a1/oauth2/token", authorization: basicField,
        mediaType: vendorPrefix + "OauthTokenRequest+json",
        body: #"{"grant_type":"password","username":"VENDOR_THING_ID:v-1","password":"pw"}"#,
        successes: [200], reply: tokenReply, refusals: [(401, "THING_DISABLED")]
    ) { client in
        let answer = try await client.login(vendorThingID: "v-1", password: "pw").principal
        #expect(answer == .thing("u1"))
    },
    EndpointRow(
        name: "sign in an administrator", method: "POST", target: "/apps/a1/oauth2/token", authorization: nil,
        mediaType: vendorPrefix + "OauthTokenRequest+json",
        body: #"{"grant_type":"client_credentials","client_id":"ci","client_secret":"cs"}"#,
        successes: [200], reply: tokenReply, refusals: [(401, "AUTHENTICATION_FAILED")]
    ) { client in
        let answer = try await client.login(clientID: "ci", clientSecret: "cs").principal
        #expect(answer == nil)
    },
    EndpointRow(
        name: "refresh", method: "POST", target: "/apps/a1/oauth2/token", authorization: basicField,
        mediaType: vendorPrefix + "OauthTokenRequest+json",
        body: #"{"grant_type":"refresh_token","refresh_token":"rt"}"#,
        successes: [200], reply: #"{"access_token":"at2","refresh_token":"rt2"}"#,
        refusals: [(403, "WRONG_REFRESH_TOKEN")]
    ) { client in
        let token = try await client.refresh(AccessToken(principal: lamp, token: "at", refreshToken: "rt"))
        #expect(token == AccessToken(principal: lamp, token: "at2", refreshToken: "rt2"))
    },
]
