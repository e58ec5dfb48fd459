import KiiPushCore
import KiiPushEmulator
import Testing

@Suite struct UserTests {
    @Test func registrationAnswersWithTheUserAndNoToken() throws {
        var kii = CloudHarness()
        let outcome = kii.call(
            "POST",
            "users",
            type: "RegistrationRequest",
            ["loginName": "ann_1.x-y", "displayName": "Ann", "password": "secret", "shoeSize": 38]
        )
        #expect(outcome.status == 201)
        #expect(outcome.type == "application/vnd.kii.RegistrationResponse+json")
        let id = try #require(outcome.json["userID"]?.string)
        #expect(outcome.response.field("Location")?.hasSuffix("/apps/\(kii.app.appID)/users/\(id)") == true)
        #expect(outcome.json["displayName"]?.string == "Ann")
        #expect(outcome.json["shoeSize"]?.int64 == 38)
        #expect(outcome.json["_hasPassword"]?.bool == true)
        #expect(outcome.json["_accessToken"] == nil)
        #expect(outcome.json["password"] == nil)
    }

    /// A custom field `userID` would conflict with the cloud's own.
    @Test(arguments: ["RegistrationRequest", "RegistrationAndAuthorizationRequest"])
    func theIDOfAUserIsNotTheCallersToChoose(type: String) throws {
        var kii = CloudHarness()
        let body: JSONValue = ["loginName": "ann", "password": "secret", "userID": "mine", "_hasPassword": "no"]
        let outcome = kii.call("POST", "users", type: type, body)
        #expect(outcome.status == 201)
        let id = try #require(outcome.json["userID"]?.string)
        #expect(id != "mine")
        #expect(outcome.response.field("Location")?.hasSuffix("/users/\(id)") == true)
        #expect(kii.control("GET", "principals").json["users"]?[0]?["userID"]?.string == id)
    }

    @Test func aPseudoUserGetsATokenAtOnce() throws {
        var kii = CloudHarness()
        let outcome = kii.call("POST", "users", type: "RegistrationAndAuthorizationRequest", [:])
        #expect(outcome.status == 201)
        let token = try #require(outcome.json["_accessToken"]?.string)
        let me = kii.call("GET", "users/me", token: token)
        #expect(me.status == 200)
        #expect(me.json["userID"]?.string == outcome.json["userID"]?.string)
        #expect(me.json["_hasPassword"]?.bool == false)
    }

    @Test(
        arguments: [
            ("loginName", "ann"), ("emailAddress", "ann@example.com"), ("phoneNumber", "+819012345678"),
        ]
    )
    func aTakenNameIsRefused(field: String, value: String) {
        var kii = CloudHarness()
        let body = JSONValue.object([(field, JSONValue(value)), ("password", "secret")])
        #expect(kii.call("POST", "users", type: "RegistrationRequest", body).status == 201)
        let outcome = kii.call("POST", "users", type: "RegistrationRequest", body)
        expectRefusal(outcome, "409 USER_ALREADY_EXISTS")
        #expect(outcome.json["field"]?.string == field)
        #expect(outcome.json["value"]?.string == value)
    }

    @Test(
        arguments: [
            #"{"password":"secret"}"#, #"{"loginName":"ab","password":"secret"}"#,
            #"{"loginName":"has space","password":"secret"}"#, #"{"loginName":7,"password":"secret"}"#,
            #"{"loginName":"ann"}"#, #"{"loginName":"ann","password":"abc"}"#,
            #"{"loginName":"ann","password":"\u00e9\u00e9\u00e9\u00e9"}"#,
            #"{"loginName":"ann","password":"secret","country":"JAPAN"}"#,
            #"{"loginName":"ann","password":"secret","country":"J1"}"#,
            #"{"loginName":"ann","password":"secret","country":""}"#,
            #"{"emailAddress":"no","password":"secret"}"#, #"{"emailAddress":"a@b","password":"secret"}"#,
            #"{"emailAddress":"@example.com","password":"secret"}"#, #"{"emailAddress":"a@b.","password":"secret"}"#,
            #"{"emailAddress":"a b@example.com","password":"secret"}"#,
            #"{"emailAddress":"a@b@example.com","password":"secret"}"#,
        ]
    )
    func illegalRegistrationsAreRefused(body: String) throws {
        var kii = CloudHarness()
        let outcome = kii.call("POST", "users", type: "RegistrationRequest", try JSONValue(parsing: body))
        expectRefusal(outcome, "400 INVALID_INPUT_DATA")
    }

    @Test(
        arguments: [
            #"{"emailAddress":"ann.b+1%x@mail-1.example.com"}"#, #"{"emailAddress":"änn@example.com"}"#,
            #"{"loginName":"ann","country":"jp"}"#, #"{"loginName":"ann","country":"JP"}"#,
            #"{"loginName":"ann","country":null}"#,
        ]
    )
    func legalRegistrationsAreTaken(body: String) throws {
        var kii = CloudHarness()
        var members = try #require(try JSONValue(parsing: body).members)
        members.append(JSONMember(key: "password", value: "secret"))
        let outcome = kii.call("POST", "users", type: "RegistrationRequest", JSONValue(members: members))
        #expect(outcome.status == 201)
    }

    @Test func usersAreFoundByIDAndByName() throws {
        var kii = CloudHarness()
        let registered = kii.call(
            "POST",
            "users",
            type: "RegistrationRequest",
            ["loginName": "ann", "emailAddress": "ann@example.com", "password": "secret"]
        )
        let id = try #require(registered.json["userID"]?.string)
        let other = try kii.user()
        for path in ["users/\(id)", "users/LOGIN_NAME:ann", "users/EMAIL:ann%40example.com"] {
            #expect(kii.call("GET", path, token: other.token).json["userID"]?.string == id)
        }
        let missing = kii.call("GET", "users/LOGIN_NAME:bob", token: other.token)
        expectRefusal(missing, "404 USER_NOT_FOUND")
        #expect(missing.json["field"]?.string == "loginName")
    }

    @Test func meNeedsAUser() throws {
        var kii = CloudHarness()
        let admin = try kii.admin()
        expectRefusal(kii.call("GET", "users/me", token: admin), "401 UNAUTHORIZED")
    }
}
