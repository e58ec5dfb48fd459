import TestSupport
import Testing

@testable import KiiPushCore

@Suite struct AccountLookupTests {
    private static let user = #"""
        {"userID":"u1","internalUserID":9223372036854775807,"loginName":"alice","displayName":"Al","country":"JP",
        "emailAddress":"a@x.test","emailAddressVerified":true,"phoneNumber":"+8190","phoneNumberVerified":false,
        "_hasPassword":true,"_other":1,"age":7}
        """#

    @Test(arguments: [
        (UserReference.me, "/users/me"), (.id("u 1"), "/users/u%201"), (.loginName("al"), "/users/LOGIN_NAME:al"),
        (.emailAddress("a/b@x.test"), "/users/EMAIL:a%2Fb%40x.test"), (.phoneNumber("+8190"), "/users/PHONE:%2B8190"),
    ])
    func aUserIsReadByEachOfTheNames(_ reference: UserReference, path: String) async throws {
        let (requests, result) = await exchange(.status(200, Self.user)) {
            try await $0.session(testToken).user(reference)
        }
        #expect(requests.map(\.url) == ["https://cloud.test/api/apps/a1" + path])
        #expect(requests.first?.method == "GET")
        let user = try result.get()
        #expect(user.userID == "u1" && user.loginName == "alice" && user.hasPassword == true)
        #expect(user.emailAddress == "a@x.test" && user.isEmailAddressVerified == true)
        #expect(user.phoneNumber == "+8190" && user.isPhoneNumberVerified == false)
        #expect(user.profile == UserProfile(displayName: "Al", country: "JP", customFields: ["age": 7]))
    }

    @Test func aStrangerIsReadWithWhatIsThere() async throws {
        let (_, result) = await exchange(.status(200, #"{"userID":"u1","displayName":null}"#)) {
            try await $0.session(testToken).user()
        }
        let user = try result.get()
        #expect(user.userID == "u1" && user.loginName == nil && user.emailAddress == nil && user.phoneNumber == nil)
        #expect(user.isEmailAddressVerified == nil && user.isPhoneNumberVerified == nil && user.hasPassword == nil)
        #expect(user.profile == UserProfile())
    }

    @Test(arguments: [
        (ThingReference.id("th.1"), "/things/th.1"), (.vendorThingID("v-1"), "/things/VENDOR_THING_ID:v-1"),
    ])
    func aThingIsReadByEachOfTheNames(_ reference: ThingReference, path: String) async throws {
        let body = #"""
            {"_thingID":"th.1","_vendorThingID":"v-1","_thingType":"lamp","_created":1411490350034,"_vendor":"ACME",
            "colour":"red"}
            """#
        let (requests, result) = await exchange(.status(200, body)) { try await $0.session(testToken).thing(reference) }
        #expect(requests.map(\.url) == ["https://cloud.test/api/apps/a1" + path])
        let expected = KiiThing(
            thingID: "th.1", vendorThingID: "v-1", thingType: "lamp",
            createdAt: Timestamp(millisecondsSinceEpoch: 1_411_490_350_034),
            fields: ["_vendor": "ACME", "colour": "red"])
        #expect(try result.get() == expected)
    }

    @Test func aPasswordIsChangedByItsOwnerAndByAnAdministrator() async throws {
        let (own, ownResult) = await exchange(.status(204)) {
            try await $0.session(testToken).changePassword(from: "old pw", to: "new pw")
        }
        #expect(throws: Never.self) { try ownResult.get() }
        #expect(own.first?.method == "PUT")
        #expect(own.first?.url == "https://cloud.test/api/apps/a1/users/me/password")
        #expect(own.first?.fields.last == HTTPField("Content-Type", "application/vnd.kii.ChangePasswordRequest+json"))
        #expect(
            String(decoding: own.first?.body ?? [], as: UTF8.self)
                == #"{"newPassword":"new pw","oldPassword":"old pw"}"#)
        let (admin, _) = await exchange(.status(204)) {
            try await $0.session(testToken).changePassword(from: nil, to: "new pw", of: .id("u1"))
        }
        #expect(admin.first?.url == "https://cloud.test/api/apps/a1/users/u1/password")
        #expect(String(decoding: admin.first?.body ?? [], as: UTF8.self) == #"{"newPassword":"new pw"}"#)
    }

    @Test func aWrongOldPasswordIsNoMatterOfTheToken() async throws {
        let fixture = SessionFixture()
        let session = fixture.session()
        let wrong = KiiError(
            operation: KiiOperation(method: .put, path: "/"), status: 401, errorCode: KiiErrorCode.wrongPassword)
        await #expect(throws: wrong) { try await session.withToken { _ in throw wrong } }
        #expect(fixture.cloud.logins == 1)
    }

    @Test func anErrorTellsNeitherPassword() async throws {
        let echo = HTTPResponse.status(400, #"{"errorCode":"PASSWORD_TOO_SHORT","message":"old pw new pw"}"#)
        let (_, result) = await exchange(echo) {
            try await $0.session(testToken).changePassword(from: "old pw", to: "new pw")
        }
        let error = try #require(#expect(throws: KiiError.self) { try result.get() })
        #expect(error.errorCode == "PASSWORD_TOO_SHORT")
        #expect(!"\(error)".contains("old pw") && !"\(error)".contains("new pw"))
    }

    @Test(arguments: [
        (LoginGrant.user(name: "alice", password: "pw"), #""username":"alice""#),
        (.user(name: "EMAIL:a@x.test", password: "pw"), #""username":"EMAIL:a@x.test""#),
        (.user(name: "PHONE:+8190", password: "pw"), #""username":"PHONE:+8190""#),
        (.user(name: "PHONE:JP-090", password: "pw"), #""username":"PHONE:JP-090""#),
        (.anonymous, #""grant_type":"client_credentials","client_id":"a1","client_secret":"k-secret""#),
    ])
    func everyoneSignsInByTheirForm(_ grant: LoginGrant, expected: String) async throws {
        let reply = #"{"id":"u1","access_token":"at","expires_in":9223372036854775}"#
        let (requests, result) = await exchange(.status(200, reply)) { try await $0.login(grant) }
        let body = String(decoding: requests.first?.body ?? [], as: UTF8.self)
        #expect(body.contains(expected))
        let token = try result.get()
        #expect(token.token == "at")
        if case .anonymous = grant {
            #expect(token.principal == nil)
            #expect(requests.first?.fields.contains { $0.name == "Authorization" } == false)
        } else {
            #expect(token.principal == alice)
        }
    }

    @Test(arguments: [
        (UserRegistration(emailAddress: "a@x.test", password: "pass"), #""emailAddress":"a@x.test""#),
        (UserRegistration(phoneNumber: "+8190", password: "pass"), #""phoneNumber":"+8190""#),
    ])
    func aUserIsRegisteredByAddressOrNumberAlone(_ registration: UserRegistration, expected: String) async throws {
        let (requests, result) = await exchange(.status(201, #"{"userID":"u1"}"#)) {
            try await $0.registerUser(registration)
        }
        #expect(try result.get() == "u1")
        #expect(String(decoding: requests.first?.body ?? [], as: UTF8.self) == #"{\#(expected),"password":"pass"}"#)
    }

    @Test func aRegistrationAndALookupWithoutANameAreRefused() async throws {
        for call: @Sendable (KiiClient) async throws -> Void in [
            { _ = try await $0.registerUser(UserRegistration(password: "pass")) },
            { _ = try await $0.session(testToken).user(.id("")) },
            { _ = try await $0.session(testToken).user(.loginName("")) },
            { _ = try await $0.session(testToken).user(.emailAddress("")) },
            { _ = try await $0.session(testToken).user(.phoneNumber("")) },
            { _ = try await $0.session(testToken).thing(.vendorThingID("a b")) },
            { try await $0.session(testToken).changePassword(from: "old pw", to: "new") },
        ] {
            let (requests, result) = await exchange(.status(200), body: call)
            #expect(throws: KiiInputError.self) { try result.get() }
            #expect(requests.isEmpty)
        }
    }

    @Test func everySiteHasBothRoots() {
        for site in KiiSite.allCases {
            #expect(site.baseURL.hasSuffix(".kii.com/api"))
            let app = KiiApp(appID: "a1", appKey: "k", baseURL: site.baseURL)
            #expect(app.thingIFBaseURL == site.baseURL.dropLast(3) + "thing-if")
        }
    }
}
