import Contract
import TestSupport
import Testing

@testable import KiiPushCore

private let create = "createInstallation(deviceType:isDevelopment:registrationID:owner:members:)"

extension ClientCall {
    static let installations: [ClientCall] = [
        ClientCall(id: "installations.create", method: create) { client, _ in
            let installation = try await client.session(testToken).createInstallation()
            #expect(installation == Installation(id: "i1", registrationID: "r1", deviceType: .mqtt))
        },
        ClientCall(
            id: "installations.create",
            method: create,
            note: "for a thing",
            body: ["deviceType": "MQTT", "development": true, "thingID": "th.1"]
        ) { client, _ in
            let installation = try await client.session(testToken).createInstallation(isDevelopment: true, owner: lamp)
            #expect(installation.owner == lamp)
        },
        ClientCall(
            id: "installations.create",
            method: create,
            note: "for a user on another network",
            body: ["deviceType": "IOS", "development": false, "installationRegistrationID": "00ff", "userID": "u1"]
        ) { client, _ in
            let installation = try await client.session(testToken).createInstallation(
                deviceType: .ios, registrationID: "00ff", owner: alice)
            #expect(installation.deviceType == .ios && installation.owner == alice)
        },
        ClientCall(
            id: "installations.create",
            method: create,
            note: "for payloads of another format",
            body: ["deviceType": "MQTT", "development": false, "payload": "apns"]
        ) { client, _ in
            let installation = try await client.session(testToken).createInstallation(members: ["payload": "apns"])
            #expect(installation.id == "i1")
        },
        ClientCall(
            id: "installations.list",
            method: "installations(of:)",
            note: "of a user",
            query: "?userID=u1%26x"
        ) { client, _ in
            let installations = try await client.session(testToken).installations(of: .user("u1&x")).all()
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
            method: "installations(of:)",
            note: "of a thing",
            query: "?thingID=th.1",
            reply: ["installations": [], "x": .null]
        ) { client, _ in
            let installations = try await client.session(testToken).installations(of: lamp).all()
            #expect(installations.isEmpty)
        },
        ClientCall(
            id: "installations.list",
            method: "installations(of:)",
            note: "of everybody",
            reply: ["installations": [["installationID": "i1"]]]
        ) { client, _ in
            let installations = try await client.session(testToken).installations(of: nil).all()
            #expect(installations == [Installation(id: "i1")])
        },
        ClientCall(
            id: "installations.get",
            method: "installation(_:)",
            reply: ["installationID": "i1", "deviceType": "MQTT", "userID": "u1", "development": "true", "more": []]
        ) { client, _ in
            let installation = try await client.session(testToken).installation(.id("i1"))
            #expect(installation == Installation(id: "i1", deviceType: .mqtt, owner: alice, isDevelopment: true))
        },
        ClientCall(
            id: "installations.get",
            method: "installation(_:)",
            note: "by registration ID",
            parameters: ["installation": "MQTT:r1%2F%20"],
            reply: ["installationID": "i1", "installationType": "MQTT", "thingID": "th.1", "development": false]
        ) { client, _ in
            let installation = try await client.session(testToken).installation(.registration(.mqtt, "r1/ "))
            #expect(installation == Installation(id: "i1", deviceType: .mqtt, owner: lamp, isDevelopment: false))
        },
        ClientCall(id: "installations.delete", method: "deleteInstallation(_:)") { client, _ in
            try await client.session(testToken).deleteInstallation(.id("i1"))
        },
        ClientCall(
            id: "installations.delete",
            method: "deleteInstallation(_:)",
            note: "by registration ID",
            parameters: ["installation": "ANDROID:r1"]
        ) { client, _ in try await client.session(testToken).deleteInstallation(.registration(.android, "r1")) },
        ClientCall(id: "installations.endpoint", method: "mqttEndpoint(of:waiting:)") { client, _ in
            let endpoint = try await client.session(testToken).mqttEndpoint(of: "i1")
            #expect(endpoint.host == "h" && endpoint.portTCP == 1883 && endpoint.portSSL == 8883)
            #expect(endpoint.portWS == 12470 && endpoint.portWSS == 12473)
            #expect(endpoint.mqttTopic == "t" && endpoint.username == "n" && endpoint.password == "p")
            #expect(endpoint.installationID == "i1" && endpoint.timeToLive == .seconds(2_147_483_647))
        },
    ]
}
