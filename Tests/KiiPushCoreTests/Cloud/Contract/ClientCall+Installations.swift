import Contract
import KiiPushCore
import Testing

private let create = "createInstallation(deviceType:isDevelopment:registrationID:owner:payload:token:)"

extension ClientCall {
    static let installations: [ClientCall] = [
        ClientCall(id: "installations.create", method: create) { client, _ in
            let installation = try await client.createInstallation(token: testToken)
            #expect(installation == Installation(id: "i1", registrationID: "r1", deviceType: .mqtt))
        },
        ClientCall(
            id: "installations.create",
            method: create,
            note: "for a thing",
            body: ["deviceType": "MQTT", "development": true, "thingID": "th.1"]
        ) { client, _ in
            let installation = try await client.createInstallation(isDevelopment: true, owner: lamp, token: testToken)
            #expect(installation.owner == lamp)
        },
        ClientCall(
            id: "installations.create",
            method: create,
            note: "for a user on another network",
            body: ["deviceType": "IOS", "development": false, "installationRegistrationID": "00ff", "userID": "u1"]
        ) { client, _ in
            let installation = try await client.createInstallation(
                deviceType: .ios,
                registrationID: "00ff",
                owner: alice,
                token: testToken
            )
            #expect(installation.deviceType == .ios && installation.owner == alice)
        },
        ClientCall(
            id: "installations.create",
            method: create,
            note: "for payloads of another format",
            body: ["deviceType": "MQTT", "development": false, "payload": "apns"]
        ) { client, _ in
            let installation = try await client.createInstallation(payload: .apns, token: testToken)
            #expect(installation.id == "i1")
        },
        ClientCall(
            id: "installations.list",
            method: "installations(of:token:)",
            note: "of a user",
            query: "?userID=u1%26x"
        ) { client, _ in
            let installations = try await client.installations(of: .user("u1&x"), token: testToken).all()
            #expect(
                installations == [
                    Installation(
                        id: "i1",
                        registrationID: "r1",
                        deviceType: .mqtt,
                        owner: alice,
                        isDevelopment: false
                    )
                ]
            )
        },
        ClientCall(
            id: "installations.list",
            method: "installations(of:token:)",
            note: "of a thing",
            query: "?thingID=th.1",
            reply: ["installations": [], "x": .null]
        ) { client, _ in
            let installations = try await client.installations(of: lamp, token: testToken).all()
            #expect(installations.isEmpty)
        },
        ClientCall(
            id: "installations.list",
            method: "installations(of:token:)",
            note: "of everybody",
            reply: ["installations": [["installationID": "i1"]]]
        ) { client, _ in
            let installations = try await client.installations(of: nil, token: testToken).all()
            #expect(installations == [Installation(id: "i1")])
        },
        ClientCall(
            id: "installations.get",
            method: "installation(_:token:)",
            reply: ["installationID": "i1", "deviceType": "MQTT", "userID": "u1", "development": "true", "more": []]
        ) { client, _ in
            let installation = try await client.installation(.id("i1"), token: testToken)
            #expect(installation == Installation(id: "i1", deviceType: .mqtt, owner: alice, isDevelopment: true))
        },
        ClientCall(
            id: "installations.get",
            method: "installation(_:token:)",
            note: "by registration ID",
            parameters: ["installation": "MQTT:r1%2F%20"],
            reply: ["installationID": "i1", "installationType": "MQTT", "thingID": "th.1", "development": false]
        ) { client, _ in
            let installation = try await client.installation(.registration(.mqtt, "r1/ "), token: testToken)
            #expect(installation == Installation(id: "i1", deviceType: .mqtt, owner: lamp, isDevelopment: false))
        },
        ClientCall(id: "installations.delete", method: "deleteInstallation(_:token:)") { client, _ in
            try await client.deleteInstallation(.id("i1"), token: testToken)
        },
        ClientCall(
            id: "installations.delete",
            method: "deleteInstallation(_:token:)",
            note: "by registration ID",
            parameters: ["installation": "ANDROID:r1"]
        ) { client, _ in try await client.deleteInstallation(.registration(.android, "r1"), token: testToken) },
        ClientCall(id: "installations.endpoint", method: "mqttEndpoint(of:token:)") { client, _ in
            let endpoint = try await client.mqttEndpoint(of: "i1", token: testToken)
            #expect(endpoint.host == "h" && endpoint.portTCP == 1883 && endpoint.portSSL == 8883)
            #expect(endpoint.portWS == 12470 && endpoint.portWSS == 12473)
            #expect(endpoint.mqttTopic == "t" && endpoint.username == "n" && endpoint.password == "p")
            #expect(endpoint.installationID == "i1" && endpoint.timeToLive == .seconds(2_147_483_647))
        },
    ]
}
