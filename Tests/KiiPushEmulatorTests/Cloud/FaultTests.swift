import KiiPushCore
import KiiPushEmulator
import Testing

@Suite struct FaultControlTests {
    @Test func theNextRequestsAreAnsweredAsAsked() throws {
        var kii = CloudHarness()
        let user = try kii.user()
        let added = kii.control(
            "POST",
            "faults",
            [
                "method": "get", "path": "/api/apps/*/users/*", "times": 2, "status": 503,
                "errorCode": "LOCK_FAILED", "message": "Busy.", "members": ["lock": "user"], "retryAfter": 7,
            ]
        )
        #expect(added.status == 201)
        #expect(added.json["times"]?.int64 == 2)
        #expect(added.json["id"]?.string?.isEmpty == false)
        for left in [1, 0] {
            // The fault spares other methods, other paths and the controls.
            #expect(kii.call("PUT", "users/me", token: user.token).status == 405)
            #expect(kii.call("GET", "users/me/topics", token: user.token).status == 200)
            let refused = kii.call("GET", "users/me", token: user.token)
            expectRefusal(refused, "503 LOCK_FAILED")
            #expect(refused.type == "application/vnd.kii.LockFailedException+json")
            #expect(refused.response.field("Retry-After") == "7")
            let body: JSONValue = ["errorCode": "LOCK_FAILED", "message": "Busy.", "lock": "user", "retryAfter": 7]
            #expect(refused.json == body)
            #expect(kii.control("GET", "faults").json["faults"]?.array?.first?["times"]?.int64 == (left == 0 ? nil : 1))
        }
        #expect(kii.call("GET", "users/me", token: user.token).status == 200)
    }

    @Test func aRequestThatIsRefusedBeforehandIsNotCarriedOut() throws {
        var kii = CloudHarness()
        let admin = try kii.admin()
        kii.control("POST", "faults", ["status": 500])
        let refused = kii.call("PUT", "topics/x", token: admin)
        expectRefusal(refused, "500 UNDEFINED_ERROR")
        expectRefusal(kii.call("GET", "topics/x", token: admin), "404 TOPIC_NOT_FOUND")
    }

    @Test func aLostAnswerIsOfARequestThatWasCarriedOut() throws {
        var kii = CloudHarness()
        let admin = try kii.admin()
        kii.control("POST", "faults", ["path": "/api/**", "status": 504, "afterwards": true])
        let lost = kii.call("PUT", "topics/x", token: admin)
        #expect(lost.refusal == "504 UNDEFINED_ERROR")
        #expect(lost.effects.changes.count == 1)
        expectRefusal(kii.call("PUT", "topics/x", token: admin), "409 TOPIC_ALREADY_EXISTS")
    }

    @Test func aRefusalIsLostAsWell() throws {
        var kii = CloudHarness()
        let user = try kii.user()
        kii.control("POST", "faults", ["status": 504, "errorCode": "QUERY_TIMEOUT", "afterwards": true])
        expectRefusal(kii.call("PUT", "topics/x", token: user.token), "504 QUERY_TIMEOUT")
        expectRefusal(kii.call("PUT", "topics/x", token: user.token), "401 UNAUTHORIZED")
    }

    @Test func faultsComeInTheirOrderAndGoTogether() throws {
        var kii = CloudHarness()
        let user = try kii.user()
        for status in [500, 502, 504] { kii.control("POST", "faults", ["status": JSONValue(status)]) }
        #expect(kii.call("GET", "users/me", token: user.token).status == 500)
        #expect(kii.call("GET", "users/me", token: user.token).status == 502)
        #expect(kii.control("DELETE", "faults").status == 204)
        #expect(kii.control("GET", "faults").json["faults"] == [])
        #expect(kii.call("GET", "users/me", token: user.token).status == 200)
    }

    @Test(arguments: [#"{"disconnect":true}"#, #"{"disconnect":true,"delay":0.25}"#])
    func aConnectionIsClosedBeforeTheRequestIsCarriedOut(fault: String) throws {
        var kii = CloudHarness()
        let admin = try kii.admin()
        #expect(kii.control("POST", "faults", try JSONValue(parsing: fault)).status == 201)
        let lost = kii.call("PUT", "topics/x", token: admin)
        #expect(lost.isUnanswered)
        #expect(lost.effects.changes.isEmpty)
        #expect((lost.effects.delay == .zero) == !fault.contains("delay"))
        #expect(kii.call("PUT", "topics/x", token: admin).status == 204)
    }

    @Test(arguments: [#"{"afterwards":true}"#, #"{"disconnect":true,"afterwards":true}"#])
    func aConnectionIsClosedAfterTheRequestWasCarriedOut(fault: String) throws {
        var kii = CloudHarness()
        let admin = try kii.admin()
        let added = kii.control("POST", "faults", try JSONValue(parsing: fault))
        #expect(added.json["disconnect"]?.bool == true && added.json["afterwards"]?.bool == true)
        let lost = kii.call("PUT", "topics/x", token: admin)
        #expect(lost.isUnanswered)
        #expect(lost.effects.changes.count == 1)
        expectRefusal(kii.call("PUT", "topics/x", token: admin), "409 TOPIC_ALREADY_EXISTS")
    }

    @Test func whatTheAppIsRefusedIsLostAsWell() throws {
        var kii = CloudHarness()
        let user = try kii.user()
        kii.control("PATCH", "app", ["disabled": true])
        kii.control("POST", "faults", ["afterwards": true])
        #expect(kii.call("GET", "users/me", token: user.token).isUnanswered)
        expectRefusal(kii.call("GET", "users/me", token: user.token), "403 APP_DISABLED")
    }

    @Test func aFaultIsShownWithAllThatWasSet() {
        var kii = CloudHarness()
        let set: [(String, JSONValue)] = [
            ("method", "PUT"), ("path", "/api/**"), ("times", 3), ("status", 503), ("errorCode", "LOCK_FAILED"),
            ("message", "Busy."), ("members", ["lock": "user"]), ("retryAfter", 7), ("afterwards", true),
            ("disconnect", false), ("delay", 0.25),
        ]
        let added = kii.control("POST", "faults", .object(set)).json
        #expect(added.members?.map { $0.key } == ["id"] + set.map { $0.0 })
        for (name, value) in set { #expect(added[name] == value, "\(name)") }
        #expect(kii.control("GET", "faults").json["faults"] == JSONValue([added]))
    }

    @Test func aFaultForGetMeetsHeadAsWellAndNotTheOtherWayRound() throws {
        var kii = CloudHarness()
        let user = try kii.user()
        for (fault, request, isMet) in [("GET", "HEAD", true), ("HEAD", "HEAD", true), ("HEAD", "GET", false)] {
            kii.control("POST", "faults", ["method": JSONValue(fault), "status": 500])
            let status = kii.call(request, "users/me", token: user.token).status
            #expect(status == (isMet ? 500 : 200), "\(fault) \(request)")
            kii.control("DELETE", "faults")
        }
    }

    @Test func tooManyRequestsAreCalledThat() throws {
        var kii = CloudHarness()
        let user = try kii.user()
        kii.control("POST", "faults", ["status": 429])
        expectRefusal(kii.call("GET", "users/me", token: user.token), "429 TOO_MANY_REQUESTS")
    }

    @Test func aFaultMayOnlyDelay() throws {
        var kii = CloudHarness()
        let user = try kii.user()
        kii.control("POST", "faults", ["delay": 0.25])
        let delayed = kii.call("GET", "users/me", token: user.token)
        #expect(delayed.status == 200)
        #expect(delayed.effects.delay == .milliseconds(250))
        #expect(kii.call("GET", "users/me", token: user.token).effects.delay == .zero)
    }

    @Test(
        arguments: [
            ("/api/apps/*/users/*", false), ("/api/apps/kiilocal/users/me/topics", true), ("/api/**", true),
            ("/api/apps/*/users/**", true), ("/**", true), ("/thing-if/**", false),
            // A pattern ignores empty segments, as a path does.
            ("/api/apps/*/users/me//topics/", true), ("/api/apps/*/users/me/topics/*", false),
            ("/api/apps/*/*/*/*", true), ("/", false),
        ]
    )
    func patternsAreOfWholeSegments(pattern: String, isMet: Bool) throws {
        var kii = CloudHarness()
        let user = try kii.user()
        kii.control("POST", "faults", ["path": JSONValue(pattern), "status": 500])
        #expect(kii.call("GET", "users/me/topics", token: user.token).status == (isMet ? 500 : 200))
    }

    @Test(
        arguments: [
            #"{}"#, #"{"status":200}"#, #"{"status":"503"}"#, #"{"errorCode":"X"}"#, #"{"status":500,"path":"api"}"#,
            #"{"status":500,"times":0}"#, #"{"status":500,"delay":601}"#, #"{"status":500,"retryAfter":-1}"#,
            #"{"status":500,"afterward":true}"#, #"{"status":500,"members":[]}"#,
            #"{"status":500,"path":"/api/**/topics"}"#, #"{"status":500,"members":{"errorCode":"X"}}"#,
            #"{"status":500,"members":{"message":"X"}}"#, #"{"status":500,"retryAfter":1,"members":{"retryAfter":2}}"#,
            #"{"status":500,"method":"FETCH"}"#,
            #"{"status":500,"disconnect":true}"#, #"{"disconnect":false}"#, #"{"afterwards":true,"disconnect":false}"#,
            #"{"disconnect":"yes"}"#, #"{"disconnect":true,"retryAfter":1}"#, #"{"delay":1,"message":"Busy."}"#,
            #"{"delay":1,"members":{"a":1}}"#, #"{"delay":1,"retryAfter":1}"#,
        ]
    )
    func whatIsNotAFaultIsRefused(body: String) throws {
        var kii = CloudHarness()
        expectRefusal(kii.control("POST", "faults", try JSONValue(parsing: body)), "400 INVALID_INPUT_DATA")
        #expect(kii.control("GET", "faults").json["faults"] == [])
    }
}
