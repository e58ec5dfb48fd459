import Foundation
import KiiPushCore
import KiiPushEmulator
import TestTraits
import Testing

/// Requests as existing clients of Kii put them on the wire, byte by byte: field names in any case, targets with a
/// host, bodies with both a length and chunks, and method overrides.
///
/// The facts are from the sources of Kii's C clients (ebisu, KiiThingSDK), of its Go client, and from the curl samples of
/// its guide; the words are not.
@Suite(.ownThreads) struct ClientShapesTests {
    private func withClient(_ body: (WireClient) async throws -> Void) async throws {
        try await withEmulator { try await body(WireClient(emulator: $0)) }
    }

    // MARK: - ebisu

    @Test func theWholeURLMayBeTheTarget() async throws {
        try await self.withClient { client in
            _ = try client.thing()
            let login = try client.ebisu(
                "POST", "\(client.app)/oauth2/token", type: "application/vnd.kii.OauthTokenRequest+json",
                #"{"username":"VENDOR_THING_ID:test1", "password":"1234", "grant_type":"password"}"#)
            #expect(login.status == 200)
            let token = try #require(login.json["access_token"]?.string)
            let topic = "\(client.app)/things/\(try #require(login.json["id"]?.string))/topics/topic-1"
            let answers = try [("PUT", 204), ("PUT", 409), ("DELETE", 204), ("DELETE", 404)].map { method, status in
                (try client.ebisu(method, topic, token: token).status, status)
            }
            #expect(answers.map(\.0) == answers.map(\.1))
        }
    }

    @Test func aBodyMayComeInChunksBesideItsLength() async throws {
        try await self.withClient { client in
            let thing = try client.thing()
            for saysLength in [false, true] {
                let installed = try client.ebisu(
                    "POST", "\(client.app)/installations", token: thing.token,
                    type: "application/vnd.kii.InstallationCreationRequest+json",
                    #"{"deviceType":"MQTT", "development": "false"}"#, saysLength: saysLength)
                // ebisu's test against Kii's cloud expects 201 even for a thing that has installed many times before.
                #expect(installed.status == 201)
                let id = try #require(installed.json["installationID"]?.string)
                let endpoint = try client.ebisu(
                    "GET", "\(client.app)/installations/\(id)/mqtt-endpoint", token: thing.token,
                    saysLength: saysLength)
                #expect(endpoint.status == 200)
                // ebisu copies these fields into buffers of these sizes.
                for (name, size) in ["username": 64, "password": 128, "mqttTopic": 64, "host": 64] {
                    #expect(try #require(endpoint.json[name]?.string).utf8.count < size)
                }
            }
        }
    }

    @Test func anObjectIsChangedOnlyInTheVersionThatIsNamed() async throws {
        try await self.withClient { client in
            let thing = try client.thing()
            let objects = "\(client.app)/buckets/my_bucket/objects"
            let created = try client.ebisu("POST", objects, token: thing.token, type: "application/json", "{}")
            #expect(created.status == 201)
            let object = "\(objects)/\(try #require(created.json["objectID"]?.string))"
            var version = try #require(created.field("ETag"))
            #expect(version == "\"1\"")
            // ebisu sends PATCH without a media type.
            for (method, type) in [("PUT", "application/json" as String?), ("PATCH", nil)] {
                let condition = "If-Match: \(version)"
                let first = try client.ebisu(
                    method, object, token: thing.token, type: type, fields: [condition], #"{"patch":1}"#)
                #expect(first.status == 200)
                let second = try client.ebisu(
                    method, object, token: thing.token, type: type, fields: [condition], #"{"patch":1}"#)
                #expect(second.status == 409)
                #expect(second.json["errorCode"]?.string == "OBJECT_VERSION_IS_STALE")
                version = try #require(first.field("ETag"))
            }
            #expect(try client.ebisu("GET", object, token: thing.token).field("ETag") == version)
            #expect(try client.ebisu("DELETE", object, token: thing.token).status == 204)
            #expect(try client.ebisu("GET", object, token: thing.token).status == 404)
        }
    }

    /// Before onboarding, ebisu signs in with the app's ID and a dummy secret.
    @Test func whoeverKnowsTheAppSignsInAsNobody() async throws {
        try await self.withClient { client in
            let body =
                #"{"grant_type":"client_credentials","client_id":"\#(client.appID)","client_secret":"dummy"}"#
            let answer = try client.send(
                [
                    "POST https://localhost\(client.app)/oauth2/token HTTP/1.1", "HOST: localhost",
                    "Content-Type: application/json", "Transfer-Encoding: chunked", "Connection: Close",
                ], "\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n0\r\n\r\n")
            #expect(answer.status == 200)
            #expect(answer.json["access_token"]?.string?.isEmpty == false)
        }
    }

    @Test func theFieldsOfAThingMayBeWrittenAsText() async throws {
        try await self.withClient { client in
            let answer = try client.ebisu(
                "POST", "/thing-if/apps/\(client.appID)/onboardings", token: try client.nobody(),
                type: "application/vnd.kii.OnboardingWithVendorThingIDByThing+json",
                #"{"vendorThingID":"test2","thingPassword":"1234","thingType":"AC","firmwareVersion":"v1","#
                    + #""layoutPosition":"STANDALONE","thingProperties":"{\"colour\":\"red\"}"}"#)
            #expect(answer.status == 200)
            let id = try #require(answer.json["thingID"]?.string)
            let token = try #require(answer.json["accessToken"]?.string)
            let thing = try client.ebisu("GET", "\(client.app)/things/\(id)", token: token)
            #expect(thing.json["colour"]?.string == "red")
            #expect(thing.json["_thingType"]?.string == "AC")
        }
    }

    // MARK: - KiiThingSDK

    @Test func fieldsNeedNoSpaceAndSchemesNoCapital() async throws {
        try await self.withClient { client in
            let thing = try client.thingSDK(
                "POST", "\(client.app)/things",
                type: "application/vnd.kii.ThingRegistrationAndAuthorizationRequest+json",
                #"{"_vendorThingID": "1426830900", "_password": "1234", "_thingType": "THERMOMETER"}"#)
            #expect(thing.status == 201)
            let token = try #require(thing.json["_accessToken"]?.string)
            let scope = "\(client.app)/things/\(try #require(thing.json["_thingID"]?.string))"
            let subscriptions = "\(scope)/topics/news/push/subscriptions/things"
            let own = "\(subscriptions)/\(try #require(thing.json["_thingID"]?.string))"
            let calls = [
                ("PUT", "\(scope)/topics/news", 204), ("PUT", "\(scope)/topics/news", 409), ("HEAD", own, 404),
                ("POST", subscriptions, 204), ("POST", subscriptions, 409), ("HEAD", own, 204), ("DELETE", own, 204),
                ("DELETE", own, 404),
            ]
            for (method, path, status) in calls {
                #expect(try client.thingSDK(method, path, token: token).status == status, "\(method) \(path)")
            }
        }
    }

    /// The C sample for thing-if reports the results of a command with traits by HTTP/1.0, without aliases.
    @Test func aThingReportsInTheFirstVersion() async throws {
        try await self.withClient { client in
            let user = try await client.emulator.receiver()
            let root = "/thing-if/apps/\(client.appID)"
            let thing = try client.go(
                "POST", "\(root)/onboardings", token: user.token,
                type: "application/vnd.kii.OnboardingWithVendorThingIDByOwner+json",
                #"{"vendorThingID":"c-1","thingPassword":"1234","owner":"user:\#(user.userID)"}"#)
            let commands = "\(root)/targets/thing:\(try #require(thing.json["thingID"]?.string))/commands"
            let sent = try client.go(
                "POST", commands, token: user.token, type: "application/vnd.kii.CommandCreationRequest+json",
                #"{"actions":[{"lamp":[{"turnPower":true}]}],"issuer":"user:\#(user.userID)"}"#)
            let command = "\(commands)/\(try #require(sent.json["commandID"]?.string))"
            let body = #"{"actionResults":[{"turnPower":{"succeeded":true}}]}"#
            let reported = try client.send(
                [
                    "PUT https://localhost\(command)/action-results HTTP/1.0", "host:localhost",
                    "x-kii-appid:\(client.appID)", "x-kii-appkey:\(client.emulator.emulator.appKey.reveal())",
                    "x-kii-sdk:sn=tic;sv=1.0.1", "content-type:application/json",
                    "authorization:bearer \(try #require(thing.json["accessToken"]?.string))",
                    "content-length:\(body.utf8.count)",
                ], body)
            #expect(reported.status == 204)
            #expect(try client.go("GET", command, token: user.token, "").json["commandState"]?.string == "DONE")
        }
    }

    @Test func aPostMayStandForAPatch() async throws {
        try await self.withClient { client in
            let thing = try client.thing()
            let object = "\(client.app)/things/\(thing.id)/buckets/my_bucket/objects/my-object"
            func call(_ method: String, _ fields: [String], _ body: String) throws -> RawAnswer {
                try client.thingSDK(
                    method, object, token: thing.token, type: "application/json", fields: fields, body)
            }
            #expect(try call("PUT", ["if-none-match: *"], #"{"a": 1}"#).status == 201)
            let again = try call("PUT", ["if-none-match: *"], #"{"a": 2}"#)
            #expect(again.status == 409)
            #expect(again.json["errorCode"]?.string == "OBJECT_ALREADY_EXISTS")
            // For a PATCH of any version, KiiThingSDK sends `if-none-match: *`.
            let patched = try call("POST", ["X-HTTP-METHOD-OVERRIDE: PATCH", "if-none-match: *"], #"{"b": 2}"#)
            #expect(patched.status == 200)
            let version = try #require(patched.field("ETag"))
            #expect(version == "\"2\"")
            let stale = try call("POST", ["X-HTTP-METHOD-OVERRIDE: PATCH", "if-match:\"1\""], #"{"b": 3}"#)
            #expect(stale.status == 409)
            let fetched = try client.thingSDK("GET", object, token: thing.token)
            #expect(fetched.field("ETag") == version)
            #expect(fetched.json["a"]?.int64 == 1)
            #expect(fetched.json["b"]?.int64 == 2)
        }
    }

    // MARK: - kii_go

    @Test func nobodyRegistersUsersAndThings() async throws {
        try await self.withClient { client in
            let nobody = try client.nobody()
            let user = try client.go(
                "POST", "\(client.app)/users", token: nobody, #"{"loginName":"go-user","password":"dummyPass"}"#)
            #expect(user.status == 201)
            // kii_go sends the expiry in milliseconds, as text.
            let moment = Timestamp.now().millisecondsSinceEpoch + 3_600_000
            let login = try client.go(
                "POST", "/api/oauth2/token", token: nobody,
                #"{"username":"go-user","password":"dummyPass","expiresAt":"\#(moment)"}"#)
            #expect(login.status == 200)
            #expect(login.json["id"]?.string == user.json["userID"]?.string)
            #expect(try #require(login.json["expires_in"]?.int64) <= 3600)
            let thing = try client.go(
                "POST", "\(client.app)/things", token: nobody,
                type: "application/vnd.kii.ThingRegistrationRequest+json",
                #"{"_vendorThingID":"go-1","_password":"dummyPass"}"#)
            #expect(thing.status == 201)
            #expect(thing.json["_created"]?.int64 != nil)
        }
    }

    @Test func aGatewayOnboardsWithEmptyFields() async throws {
        try await self.withClient { client in
            let answer = try client.go(
                "POST", "/thing-if/apps/\(client.appID)/onboardings", token: try client.nobody(),
                type: "application/vnd.kii.onboardingWithVendorThingIDByThing+json",
                #"{"vendorThingID":"go-2","thingPassword":"dummyPass","thingType":"","layoutPosition":"GATEWAY","#
                    + #""thingProperties":null}"#)
            #expect(answer.status == 200)
            #expect(answer.json["mqttEndpoint"]?["mqttTopic"]?.string?.isEmpty == false)
        }
    }

    // MARK: - Kii's JavaScript SDK and samples

    @Test func theKindOfAnOwnerMayBeInCapitals() async throws {
        try await self.withClient { client in
            let user = try await client.emulator.receiver()
            let answer = try client.go(
                "POST", "/thing-if/apps/\(client.appID)/onboardings", token: user.token,
                type: "application/vnd.kii.OnboardingWithVendorThingIDByOwner+json",
                #"{"vendorThingID":"js-1","thingPassword":"1234","owner":"USER:\#(user.userID)"}"#)
            #expect(answer.status == 200)
        }
    }

    /// The JavaScript SDK leaves out the ID of a new object, so the path ends in a slash.
    @Test func aCollectionMayEndInASlash() async throws {
        try await self.withClient { client in
            let thing = try client.thing()
            let objects = "\(client.app)/things/\(thing.id)/buckets/my_bucket/objects/"
            let answer = try client.thingSDK(
                "POST", objects, token: thing.token, type: "application/json", "{}")
            #expect(answer.status == 201)
            #expect(answer.json["objectID"]?.string?.isEmpty == false)
        }
    }

    // MARK: - The guide's samples, as curl writes them

    @Test func theGuidesPatchHasTheTypeOfAForm() async throws {
        try await self.withClient { client in
            let user = try await client.emulator.receiver()
            let object = "\(client.app)/users/me/buckets/mydata/objects/my-object"
            let login = "Authorization: Bearer \(user.token)"
            let created = try client.send(
                [
                    "PUT \(object) HTTP/1.1", "Host: 127.0.0.1", login,
                    "Content-Type: application/vnd.\(client.appID).mydata+json", "Content-Length: 34",
                ], #"{"score": 2300, "name": "game1.."}"#)
            #expect(created.status == 201)
            let patch = [
                "POST \(object) HTTP/1.1", "Host: 127.0.0.1", "User-Agent: curl/7.88.1", "Accept: */*", login,
                "If-Match: 1", "X-HTTP-Method-Override: PATCH", "Content-Length: 15",
                "Content-Type: application/x-www-form-urlencoded",
            ]
            // The guide's `If-Match` is the bare version, without the quotes of an entity tag.
            #expect(try client.send(patch, #"{"score": 5000}"#).status == 200)
            #expect(try client.send(patch, #"{"score": 5000}"#).status == 409)
        }
    }

    @Test func aDeletionMayNameAVersion() async throws {
        try await self.withClient { client in
            let thing = try client.thing()
            let object = "\(client.app)/things/\(thing.id)/buckets/my_bucket/objects/my-object"
            let type = "application/json"
            #expect(try client.thingSDK("PUT", object, token: thing.token, type: type, "{}").status == 201)
            func delete(_ field: String) throws -> Int {
                try client.thingSDK("DELETE", object, token: thing.token, fields: [field]).status
            }
            #expect(try delete("If-Match: 2") == 409)
            #expect(try delete("If-Match: 1") == 204)
            #expect(try client.thingSDK("PUT", object, token: thing.token, type: type, "{}").status == 201)
            // In Kii's reference, a deletion with `If-None-Match: *` has no condition.
            #expect(try delete("If-None-Match: *") == 204)
        }
    }
}
