import KiiPushCore
import KiiPushEmulator
import Testing

@Suite struct InstallationTests {
    private static let type = "InstallationCreationRequest"

    @Test func creationAnswersWithBothIDs() throws {
        var kii = CloudHarness()
        let user = try kii.user()
        let outcome = kii.call(
            "POST",
            "installations",
            token: user.token,
            type: InstallationTests.type,
            ["deviceType": "MQTT", "development": false]
        )
        #expect(outcome.status == 201)
        #expect(outcome.type == "application/vnd.kii.InstallationCreationResponse+json")
        let id = try #require(outcome.json["installationID"]?.string)
        #expect(id.utf8.count == 25 && id.allSatisfy { $0.isASCII && ($0.isLowercase || $0.isNumber) })
        // Kii's own scripts read answers by line and offset, so every byte of this answer matters.
        let registrationID = try #require(outcome.json["installationRegistrationID"]?.string)
        #expect(
            String(decoding: outcome.response.body, as: UTF8.self) == """
                {
                  "installationID" : "\(id)",
                  "installationRegistrationID" : "\(registrationID)"
                }
                """)
        #expect(outcome.response.field("Location")?.hasSuffix("/installations/\(id)") == true)
    }

    @Test func anOwnerHasOneMQTTInstallation() throws {
        var kii = CloudHarness()
        let (user, thing) = (try kii.user(), try kii.thing())
        let first = try kii.installation(of: user)
        let second = try kii.installation(of: user)
        #expect(first == second)
        let ofThing = try kii.installation(of: thing)
        #expect(ofThing != first)
        let admin = try kii.admin()
        #expect(kii.call("GET", "installations", token: admin).json["installations"]?.array?.count == 2)
    }

    @Test(
        arguments: [
            #"{}"#, #"{"deviceType":"mqtt"}"#, #"{"deviceType":7}"#, #"{"deviceType":"IOS"}"#,
            #"{"deviceType":"IOS","installationRegistrationID":""}"#,
            #"{"deviceType":"MQTT","development":"yes"}"#, #"{"deviceType":"MQTT","development":1}"#,
            #"{"deviceType":"MQTT","userID":"x"}"#, #"{"deviceType":"MQTT","payload":"APNS"}"#,
            #"{"deviceType":"MQTT","payload":1}"#,
            #"{"deviceType":"IOS","installationRegistrationID":"x","payload":"apns"}"#,
        ]
    )
    func illegalCreationsAreRefused(body: String) throws {
        var kii = CloudHarness()
        let user = try kii.user()
        let outcome = kii.call(
            "POST",
            "installations",
            token: user.token,
            type: InstallationTests.type,
            try JSONValue(parsing: body)
        )
        expectRefusal(outcome, "400 INVALID_INPUT_DATA")
    }

    @Test func aRepeatedDeviceTokenChangesHands() throws {
        var kii = CloudHarness()
        let (first, second) = (try kii.user(), try kii.user())
        let body: JSONValue = ["deviceType": "IOS", "installationRegistrationID": "0a1b"]
        let ids = [first, second].map { account in
            kii.call("POST", "installations", token: account.token, type: InstallationTests.type, body)
                .json["installationID"]?.string
        }
        #expect(ids[0] == ids[1])
        let shown = kii.call("GET", "installations/IOS:0a1b", token: second.token)
        #expect(shown.json["userID"]?.string == second.id)
        #expect(shown.json["deviceType"]?.string == "IOS")
        expectRefusal(kii.call("GET", "installations/IOS:0a1b", token: first.token), "401 UNAUTHORIZED")
        for (account, count) in [(first, 0), (second, 1)] {
            let list = kii.call("GET", "installations?userID=\(account.id)", token: account.token)
            #expect(list.json["installations"]?.array?.count == count)
        }
        let endpoint = kii.call("GET", "installations/IOS:0a1b/mqtt-endpoint", token: second.token)
        expectRefusal(endpoint, "404 MQTT_ENDPOINT_NOT_FOUND")
    }

    @Test func theAdministratorInstallsForOnePrincipal() throws {
        var kii = CloudHarness()
        let (user, thing, admin) = (try kii.user(), try kii.thing(), try kii.admin())
        func create(_ body: JSONValue) -> Outcome {
            kii.call("POST", "installations", token: admin, type: InstallationTests.type, body)
        }
        #expect(create(["deviceType": "MQTT", "userID": JSONValue(user.id)]).status == 201)
        #expect(create(["deviceType": "MQTT", "thingID": JSONValue(thing.id)]).status == 201)
        expectRefusal(create(["deviceType": "MQTT"]), "400 INVALID_INPUT_DATA")
        let both: JSONValue = [
            "deviceType": "MQTT", "userID": JSONValue(user.id), "thingID": JSONValue(thing.id),
        ]
        expectRefusal(create(both), "400 INVALID_INPUT_DATA")
        expectRefusal(create(["deviceType": "MQTT", "userID": "none"]), "404 USER_NOT_FOUND")
    }

    @Test func listsAreOfOneOwner() throws {
        var kii = CloudHarness()
        let (user, thing, stranger) = (try kii.user(), try kii.thing(), try kii.user())
        kii.call("PUT", "things/\(thing.id)/ownership/user:\(user.id)", token: thing.token)
        let installation = try kii.installation(of: thing)
        func list(_ query: String, _ token: String) -> Outcome {
            kii.call("GET", "installations?\(query)", token: token)
        }
        let ofThing = list("thingID=\(thing.id)", thing.token).json["installations"]
        #expect(ofThing?.array?.count == 1)
        #expect(ofThing?[0]?["installationID"]?.string == installation.id)
        #expect(ofThing?[0]?["thingID"]?.string == thing.id)
        // The list of a user omits the installations of the user's things.
        #expect(list("userID=\(user.id)", user.token).json["installations"]?.array?.count == 0)
        expectRefusal(list("userID=\(user.id)", stranger.token), "401 UNAUTHORIZED")
        expectRefusal(kii.call("GET", "installations", token: user.token), "401 UNAUTHORIZED")
    }

    @Test func deletionEndsTheCredentials() throws {
        var kii = CloudHarness()
        let (user, stranger) = (try kii.user(), try kii.user())
        let installation = try kii.installation(of: user)
        let path = "installations/\(installation.id)"
        expectRefusal(kii.call("DELETE", path, token: stranger.token), "401 UNAUTHORIZED")
        let deleted = kii.call("DELETE", path, token: user.token)
        #expect(deleted.status == 204)
        #expect(deleted.response.body.isEmpty)
        #expect(deleted.effects.revocations.count == 1)
        let missing = kii.call("DELETE", path, token: user.token)
        expectRefusal(missing, "404 INSTALLATION_NOT_FOUND")
        #expect(missing.json["installationID"]?.string == installation.id)
        #expect(missing.json["appID"]?.string == kii.app.appID)
        #expect(missing.type == "application/vnd.kii.InstallationNotFoundException+json")
        // A new installation of the same user gets another topic.
        let again = try kii.installation(of: user)
        #expect(again.topic != installation.topic)
    }

    @Test func theEndpointSaysAllThatAClientNeeds() throws {
        var kii = CloudHarness()
        let user = try kii.user()
        let installation = try kii.installation(of: user)
        let outcome = kii.call("GET", "installations/\(installation.id)/mqtt-endpoint", token: user.token)
        #expect(outcome.status == 200)
        #expect(outcome.type == "application/vnd.kii.MQTTEndpointResponse+json")
        #expect(outcome.response.field("X-MQTT-TTL") == "2147483647")
        #expect(outcome.json["X-MQTT-TTL"]?.int64 == 2_147_483_647)
        #expect(outcome.json["installationID"]?.string == installation.id)
        #expect(outcome.json["host"]?.string == "127.0.0.1")
        #expect(outcome.json["portTCP"]?.int64 == 4001)
        #expect(outcome.json["portSSL"]?.int64 == 4002)
        // The smallest buffers of the known clients: 64 bytes for each field and 128 for the password, with the NUL.
        for field in ["installationID", "username", "mqttTopic", "host"] {
            #expect(try #require(outcome.json[field]?.string).utf8.count < 64)
        }
        #expect(try #require(outcome.json["password"]?.string).utf8.count < 128)
        #expect(outcome.json["username"]?.string != outcome.json["mqttTopic"]?.string)
        let grant = try #require(outcome.effects.grants.first)
        #expect(grant.username == outcome.json["username"]?.string)
        #expect(grant.password.reveal() == outcome.json["password"]?.string)
    }

    @Test func anEndpointThatIsNotReadySaysWhenToAskAgain() throws {
        var kii = CloudHarness(endpointDelay: .milliseconds(2500))
        let user = try kii.user()
        let created = kii.call(
            "POST",
            "installations",
            token: user.token,
            type: InstallationTests.type,
            ["deviceType": "MQTT"]
        )
        let path = "installations/\(try #require(created.json["installationID"]?.string))/mqtt-endpoint"
        let early = kii.call("GET", path, token: user.token)
        expectRefusal(early, "503 MQTT_ENDPOINT_NOT_READY")
        #expect(early.json["retryAfter"]?.int64 == 3)
        #expect(early.response.field("Retry-After") == "3")
        kii.now = CloudHarness.start + .milliseconds(2500)
        #expect(kii.call("GET", path, token: user.token).status == 200)
    }

    @Test func theEndpointIsTheOwnersAndTheAdministrators() throws {
        var kii = CloudHarness()
        let (user, stranger, admin) = (try kii.user(), try kii.user(), try kii.admin())
        let installation = try kii.installation(of: user)
        let path = "installations/\(installation.id)/mqtt-endpoint"
        #expect(kii.call("GET", path, token: admin).status == 200)
        expectRefusal(kii.call("GET", path, token: stranger.token), "401 UNAUTHORIZED")
        expectRefusal(
            kii.call("GET", "installations/none/mqtt-endpoint", token: user.token),
            "404 INSTALLATION_NOT_FOUND"
        )
    }
}
