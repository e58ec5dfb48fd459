import KiiPushCore
import KiiPushEmulator
import TestTraits
import Testing

/// Accounts as Kii's SDKs for Unity, JavaScript and Java and its node for Node-RED create and change them.
///
/// The facts are from the sources and the live tests of these clients, and from Kii's guides; the words are not.
@Suite(.ownThreads) struct ClientAccountTests {
    private func withClient(_ body: (WireClient) async throws -> Void) async throws {
        try await withEmulator { try await body(WireClient(emulator: $0)) }
    }

    private let pair = "RegistrationAndAuthorizationRequest"

    // MARK: - Registering

    /// The Java client and the node for Node-RED register in this way only. The Java client then compares the user that
    /// it reads.
    @Test func whoRegistersWithANameAndAPasswordGetsATokenAtOnce() async throws {
        try await self.withClient { client in
            let answer = try client.sdk(
                "POST", "users", type: self.pair,
                [
                    "loginName": "ann", "emailAddress": "ann@example.com", "phoneNumber": "+819012345678",
                    "displayName": "ANN", "country": "JP", "password": "pa$$word",
                ])
            #expect(answer.status == 201)
            #expect(answer.json["_hasPassword"]?.bool == true)
            let token = try #require(answer.json["_accessToken"]?.string)
            let refresh = try #require(answer.json["_refreshToken"]?.string)
            let id = try #require(answer.json["userID"]?.string)
            let registered = (answer.json.members ?? []).filter {
                $0.key != "_accessToken" && $0.key != "_refreshToken"
            }
            #expect(try client.sdk("GET", "users/\(id)", token: token).json == JSONValue(members: registered))
            for name in ["ann", "ann@example.com", "PHONE:+819012345678"] {
                let login = try client.sdk(
                    "POST", "oauth2/token", type: "application/json",
                    ["grant_type": "password", "username": JSONValue(name), "password": "pa$$word"])
                #expect(login.json["id"]?.string == id, "\(name)")
            }
            let refreshed = try client.sdk(
                "POST", "oauth2/token", type: "application/json",
                ["grant_type": "refresh_token", "refresh_token": JSONValue(refresh)])
            #expect(refreshed.json["id"]?.string == id)
            #expect(try client.sdk("GET", "users/me", token: token).status == 403)
        }
    }

    /// Unity signs in with the login name, or with an address that the cloud reported as verified.
    @Test(arguments: [
        ("emailAddress", "ann@example.com", "emailAddressVerified", "phoneNumberVerified"),
        ("phoneNumber", "+819012345678", "phoneNumberVerified", "emailAddressVerified"),
    ])
    func anAddressIsVerified(field: String, value: String, flag: String, other: String) async throws {
        try await self.withClient { client in
            let registration = JSONValue.object([(field, JSONValue(value)), ("password", "secret")])
            let answer = try client.sdk("POST", "users", type: "RegistrationRequest", registration)
            #expect(answer.json[flag]?.bool == true)
            #expect(answer.json[other] == nil)
            #expect(answer.json["_disabled"]?.bool == false)
            let login: JSONValue = ["username": JSONValue(value), "password": "secret"]
            let token = try client.sdk("POST", "oauth2/token", type: "OauthTokenRequest", login).json["access_token"]
            let me = try client.sdk("GET", "users/me", token: try #require(token?.string))
            #expect(me.json[flag]?.bool == true)
        }
    }

    // MARK: - Signing in

    /// Without fields and credentials, only the path names the app.
    @Test func whoNamesTheAppInThePathSignsInWithoutFields() async throws {
        try await self.withClient { client in
            _ = try client.user("ann")
            let body = #"{"grant_type":"password","username":"ann","password":"secret"}"#
            let login = try client.go("POST", "\(client.app)/oauth2/token", body)
            #expect(login.status == 200)
            let refresh = try #require(login.json["refresh_token"]?.string)
            let refreshing = #"{"grant_type":"refresh_token","refresh_token":"\#(refresh)"}"#
            #expect(try client.go("POST", "/api/oauth2/token", refreshing).status == 401)
            #expect(try client.go("POST", "\(client.app)/oauth2/token", refreshing).status == 200)
            #expect(try client.go("POST", "/api/oauth2/token", body).json["errorCode"]?.string == "UNAUTHORIZED")
        }
    }

    /// From a live test of the Java client.
    @Test func anAdministratorHasARefreshToken() async throws {
        try await self.withClient { client in
            let user = try client.user("ann")
            let login = try client.administrator()
            let token = try #require(login.json["access_token"]?.string)
            let refresh = try #require(login.json["refresh_token"])
            let refreshed = try client.sdk(
                "POST", "oauth2/token", type: "application/json",
                ["grant_type": "refresh_token", "refresh_token": refresh])
            #expect(try client.sdk("GET", "users/\(user.id)", token: token).status == 403)
            let second = try #require(refreshed.json["access_token"]?.string)
            #expect(try client.sdk("GET", "users/\(user.id)", token: second).json["loginName"]?.string == "ann")
        }
    }

    // MARK: - Changing

    /// Unity sends the whole user back with its changes. The cloud deletes the app's own fields that the request leaves
    /// out.
    @Test func aUserIsSentBackWithChanges() async throws {
        try await self.withClient { client in
            let user = try client.user("ann")
            let first: JSONValue = ["friends": 400, "followers": 7, "country": "JP"]
            let path = "users/\(user.id)"
            let changed = try client.sdk("POST", path, token: user.token, type: "UserUpdateRequest", first)
            #expect(changed.status == 200)
            #expect(changed.mediaType == "application/vnd.kii.UserDataRetrievalResponse+json")
            #expect(changed.json["modifiedAt"]?.int64 != nil)

            let read = try client.sdk("GET", path, token: user.token).json
            #expect(read["loginName"]?.string == "ann" && read["followers"]?.int64 == 7)
            let members = (read.members ?? []).filter { $0.key != "followers" && $0.key != "country" }
            let own = [
                JSONMember(key: "friends", value: 401), JSONMember(key: "loginName", value: "anna"),
                JSONMember(key: "emailAddress", value: "ann@example.com"), JSONMember(key: "_mine", value: 1),
            ]
            let body = JSONValue(members: members + own)
            #expect(try client.sdk("POST", path, token: user.token, type: "UserUpdateRequest", body).status == 200)
            let second = try client.sdk("GET", "users/me", token: user.token).json
            #expect(second["friends"]?.int64 == 401 && second["followers"] == nil && second["_mine"] == nil)
            #expect(second["country"]?.string == "JP")
            #expect(second["emailAddressVerified"]?.bool == true)
            let login: JSONValue = ["username": "anna", "password": "secret"]
            #expect(try client.sdk("POST", "oauth2/token", type: "OauthTokenRequest", login).status == 200)
            #expect(try client.user("ann").id != user.id)
        }
    }

    /// From a live test of the Java client.
    @Test func aPseudoUserBecomesANormalOne() async throws {
        try await self.withClient { client in
            let pseudo = try client.sdk("POST", "users", type: self.pair, ["displayName": "ANN"])
            let token = try #require(pseudo.json["_accessToken"]?.string)
            let path = "users/\(try #require(pseudo.json["userID"]?.string))"
            let without = try client.sdk("POST", path, token: token, type: "UserUpdateRequest", ["password": "secret"])
            #expect(without.json["errorCode"]?.string == "INVALID_INPUT_DATA")
            let body: JSONValue = ["password": "pa$$word", "loginName": "ann"]
            #expect(try client.sdk("POST", path, token: token, type: "UserUpdateRequest", body).status == 200)
            let user = try client.sdk("GET", path, token: token).json
            #expect(user["_hasPassword"]?.bool == true && user["displayName"]?.string == "ANN")
            let login: JSONValue = ["username": "ann", "password": "pa$$word"]
            #expect(try client.sdk("POST", "oauth2/token", type: "OauthTokenRequest", login).status == 200)
            // A user with a password changes it by another call, which asks for the current password.
            let again = try client.sdk("POST", path, token: token, type: "UserUpdateRequest", ["password": "other"])
            #expect(again.json["errorCode"]?.string == "INVALID_INPUT_DATA")
        }
    }

    @Test(arguments: [
        ("email-address", "EmailAddressModificationRequest", "emailAddress", "ann@example.com", "no address"),
        ("phone-number", "PhoneNumberModificationRequest", "phoneNumber", "+819012345678", ""),
    ])
    func anAddressIsChanged(path: String, type: String, field: String, value: String, illegal: String) async throws {
        try await self.withClient { client in
            let (user, other) = (try client.user("ann"), try client.user("bob"))
            func change(_ id: String, _ token: String, _ members: [(String, JSONValue)]) throws -> RawAnswer {
                try client.sdk("PUT", "users/\(id)/\(path)", token: token, type: type, .object(members))
            }
            let address = (field, JSONValue(value))
            #expect(try change("me", user.token, [address]).status == 204)
            let me = try client.sdk("GET", "users/me", token: user.token)
            #expect(me.json[field]?.string == value && me.json["\(field)Verified"]?.bool == true)
            let login: JSONValue = ["username": JSONValue(value), "password": "secret"]
            let signedIn = try client.sdk("POST", "oauth2/token", type: "OauthTokenRequest", login)
            #expect(signedIn.json["id"]?.string == user.id)

            let foreign = try change(user.id, other.token, [(field, "+8180")])
            #expect(foreign.json["errorCode"]?.string == "UNAUTHORIZED")
            let refused = try change("me", user.token, [(field, JSONValue(illegal))])
            #expect(refused.json["errorCode"]?.string == "INVALID_INPUT_DATA")
            // Only the administrator may mark an address as verified.
            let verified = try change("me", user.token, [address, ("verified", true)])
            #expect(verified.json["errorCode"]?.string == "UNAUTHORIZED")
            let admin = try #require(try client.administrator().json["access_token"]?.string)
            #expect(try change(user.id, admin, [address, ("verified", true)]).status == 204)
        }
    }

    @Test func nobodyChangesAnotherUser() async throws {
        try await self.withClient { client in
            let (user, other) = (try client.user("ann"), try client.user("bob"))
            func change(_ token: String, _ body: JSONValue) throws -> RawAnswer {
                try client.sdk("POST", "users/\(user.id)", token: token, type: "UserUpdateRequest", body)
            }
            #expect(try change(other.token, ["a": 1]).json["errorCode"]?.string == "UNAUTHORIZED")
            let admin = try #require(try client.administrator().json["access_token"]?.string)
            #expect(try change(admin, ["a": 1]).status == 200)
            #expect(try client.sdk("GET", "users/me", token: user.token).json["a"]?.int64 == 1)
        }
    }
}
