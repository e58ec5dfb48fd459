import KiiPushCore
import Testing

private let installationReply = #"{"installationID":"i1","installationRegistrationID":"r1"}"#

let installationCalls: [EndpointRow] = [
    EndpointRow(
        name: "create an installation", method: "POST", target: "/apps/a1/installations", authorization: bearerField,
        mediaType: vendorPrefix + "InstallationCreationRequest+json",
        body: #"{"deviceType":"MQTT","development":false}"#,
        successes: [200, 201], reply: installationReply, refusals: [(409, "INSTALLATION_ALREADY_EXISTS")]
    ) { client in
        let installation = try await client.createInstallation(token: testToken)
        #expect(installation == Installation(id: "i1", registrationID: "r1", deviceType: .mqtt))
    },
    EndpointRow(
        name: "create an installation for a thing", method: "POST", target: "/apps/a1/installations",
        authorization: bearerField, mediaType: vendorPrefix + "InstallationCreationRequest+json",
        body: #"{"deviceType":"MQTT","development":true,"thingID":"th.1"}"#,
        successes: [200, 201], reply: installationReply, refusals: [(404, "THING_NOT_FOUND")]
    ) { client in
        let installation = try await client.createInstallation(isDevelopment: true, owner: lamp, token: testToken)
        #expect(installation.owner == lamp)
    },
    EndpointRow(
        name: "create an installation for a user on another network", method: "POST",
        target: "/apps/a1/installations", authorization: bearerField,
        mediaType: vendorPrefix + "InstallationCreationRequest+json",
        body: #"{"deviceType":"IOS","development":false,"installationRegistrationID":"00ff","userID":"u1"}"#,
        successes: [200, 201], reply: installationReply, refusals: [(404, "USER_NOT_FOUND")]
    ) { client in
        _ = try await client.createInstallation(
            deviceType: .ios, registrationID: "00ff", owner: alice, token: testToken)
    },
    EndpointRow(
        name: "read an installation", method: "GET", target: "/apps/a1/installations/i1", authorization: bearerField,
        successes: [200],
        reply: #"{"installationID":"i1","deviceType":"MQTT","userID":"u1","development":"true","more":[]}"#,
        refusals: [(404, "INSTALLATION_NOT_FOUND")]
    ) { client in
        let installation = try await client.installation(.id("i1"), token: testToken)
        #expect(installation == Installation(id: "i1", deviceType: .mqtt, owner: alice, isDevelopment: true))
    },
    EndpointRow(
        name: "read an installation by registration ID", method: "GET", target: "/apps/a1/installations/MQTT:r1%2F%20",
        authorization: bearerField, successes: [200],
        reply: #"{"installationID":"i1","installationType":"MQTT","thingID":"th.1","development":false}"#,
        refusals: [(404, "INSTALLATION_NOT_FOUND")]
    ) { client in
        let installation = try await client.installation(.registration(.mqtt, "r1/ "), token: testToken)
        #expect(installation == Installation(id: "i1", deviceType: .mqtt, owner: lamp, isDevelopment: false))
    },
    EndpointRow(
        name: "list the installations of a user", method: "GET", target: "/apps/a1/installations?userID=u1%26x",
        authorization: bearerField, successes: [200], reply: #"{"installations":[{"installationID":"i1"}],"x":null}"#,
        refusals: []
    ) { client in
        let installations = try await client.installations(of: .user("u1&x"), token: testToken).all()
        #expect(installations == [Installation(id: "i1")])
    },
    EndpointRow(
        name: "list the installations of a thing", method: "GET", target: "/apps/a1/installations?thingID=th.1",
        authorization: bearerField, successes: [200], reply: #"{"installations":[]}"#, refusals: []
    ) { client in
        let answer = try await client.installations(of: lamp, token: testToken).all()
        #expect(answer.isEmpty)
    },
    EndpointRow(
        name: "list all installations", method: "GET", target: "/apps/a1/installations", authorization: bearerField,
        successes: [200], reply: #"{"installations":[]}"#, refusals: []
    ) { client in
        let answer = try await client.installations(of: nil, token: testToken).all()
        #expect(answer.isEmpty)
    },
    EndpointRow(
        name: "delete an installation", method: "DELETE", target: "/apps/a1/installations/i1",
        authorization: bearerField,
        successes: [200, 204], reply: "", refusals: [(404, "INSTALLATION_NOT_FOUND")]
    ) { client in try await client.deleteInstallation(.id("i1"), token: testToken) },
    EndpointRow(
        name: "delete an installation by registration ID", method: "DELETE",
        target: "/apps/a1/installations/ANDROID:r1", authorization: bearerField, successes: [200, 204], reply: "",
        refusals: [(404, "INSTALLATION_NOT_FOUND")]
    ) { client in try await client.deleteInstallation(.registration(.android, "r1"), token: testToken) },
    EndpointRow(
        name: "ask for the MQTT endpoint", method: "GET", target: "/apps/a1/installations/i1/mqtt-endpoint",
        authorization: bearerField, successes: [200],
        reply: """
            {"installationID":"i1","username":"n","password":"p","mqttTopic":"t","host":"h","portTCP":1883,\
            "portSSL":8883,"portWS":12470,"portWSS":12473,"X-MQTT-TTL":2147483647}
            """,
        refusals: [
            (404, "INSTALLATION_NOT_FOUND"), (404, "MQTT_ENDPOINT_NOT_FOUND"), (503, "MQTT_ENDPOINT_NOT_READY"),
        ]
    ) { client in
        let endpoint = try await client.mqttEndpoint(of: "i1", token: testToken)
        #expect(endpoint.host == "h" && endpoint.portTCP == 1883 && endpoint.portSSL == 8883)
        #expect(endpoint.portWS == 12470 && endpoint.portWSS == 12473)
        #expect(endpoint.mqttTopic == "t" && endpoint.username == "n" && endpoint.password == "p")
        #expect(endpoint.installationID == "i1" && endpoint.timeToLive == .seconds(2_147_483_647))
    },
]
