import KiiPushCore
import KiiPushEmulator
import Testing

@Suite struct EndpointTests {
    private var kii = CloudHarness()

    private mutating func endpoint(_ id: String, _ user: CloudHarness.Account) -> Outcome {
        self.kii.call("GET", "installations/\(id)/mqtt-endpoint", token: user.token)
    }

    @Test mutating func itsTimeRunsFromWhenItIsHandedOut() throws {
        self.kii.control("PATCH", "app", ["mqttTTL": 90.5])
        let user = try self.kii.user()
        let id = try self.kii.installation(of: user).id
        let first = self.endpoint(id, user)
        #expect(first.response.field("X-MQTT-TTL") == "91")
        self.kii.now = CloudHarness.start + .seconds(30)
        let second = self.endpoint(id, user)
        #expect(second.response.field("X-MQTT-TTL") == "61")
        #expect(second.json["X-MQTT-TTL"]?.int64 == 61)
        #expect(second.json["mqttTopic"] == first.json["mqttTopic"])
        #expect(second.effects.revocations.isEmpty)
    }

    @Test mutating func afterItsEndThereAreAnotherTopicAndOtherCredentials() throws {
        self.kii.control("PATCH", "app", ["mqttTTL": 60])
        let user = try self.kii.user()
        let id = try self.kii.installation(of: user).id
        let first = self.endpoint(id, user).json
        self.kii.now = CloudHarness.start + .milliseconds(59_999)
        #expect(self.endpoint(id, user).json["mqttTopic"] == first["mqttTopic"])
        self.kii.now = CloudHarness.start + .seconds(60)
        let renewed = self.endpoint(id, user)
        #expect(renewed.json["X-MQTT-TTL"]?.int64 == 60)
        #expect(renewed.json["installationID"] == first["installationID"])
        for field in ["mqttTopic", "username", "password"] { #expect(renewed.json[field] != first[field]) }
        #expect(renewed.effects.revocations == [try #require(first["username"]?.string)])
        #expect(renewed.effects.grants.map { $0.username } == [try #require(renewed.json["username"]?.string)])
        let push: JSONValue = ["data": ["a": "b"], "mqtt": ["enabled": true]]
        let sent = self.kii.call(
            "POST", "users/me/push/messages", token: user.token, type: "SendPushMessageRequest", push)
        #expect(sent.published.map { $0.topic } == [try #require(renewed.json["mqttTopic"]?.string)])
    }

    @Test mutating func whatWasHandedOutKeepsTheTimeThatItWasTold() throws {
        let user = try self.kii.user()
        let id = try self.kii.installation(of: user).id
        #expect(self.endpoint(id, user).json["X-MQTT-TTL"]?.int64 == 2_147_483_647)
        self.kii.control("PATCH", "app", ["mqttTTL": 60])
        #expect(self.endpoint(id, user).json["X-MQTT-TTL"]?.int64 == 60)
        self.kii.control("PATCH", "app", ["mqttTTL": nil])
        #expect(self.endpoint(id, user).json["X-MQTT-TTL"]?.int64 == 60)
        self.kii.now = CloudHarness.start + .seconds(60)
        #expect(self.endpoint(id, user).json["X-MQTT-TTL"]?.int64 == 2_147_483_647)
    }

    @Test mutating func itsEndIsStored() throws {
        self.kii.control("PATCH", "app", ["mqttTTL": 60])
        let user = try self.kii.user()
        let id = try self.kii.installation(of: user).id
        let first = self.endpoint(id, user).json
        var state = CloudState()
        for change in self.kii.changes {
            guard case .save(let table, _, let value) = change else { continue }
            _ = state.load(table: table, value: value)
        }
        self.kii = CloudHarness(state: state)
        self.kii.now = CloudHarness.start + .seconds(59)
        #expect(self.endpoint(id, user).json["mqttTopic"] == first["mqttTopic"])
        self.kii.now = CloudHarness.start + .seconds(60)
        #expect(self.endpoint(id, user).json["mqttTopic"] != first["mqttTopic"])
    }

    @Test mutating func portsAreNamedThatAreServed() throws {
        let user = try self.kii.user()
        let id = try self.kii.installation(of: user).id
        let endpoint = self.endpoint(id, user).json
        let ports = ["portTCP", "portSSL", "portWS", "portWSS"].map { endpoint[$0]?.int64 }
        #expect(ports == [4001, 4002, 4003, 4004])
    }

    @Test mutating func portsThatAreNotServedAreNotNamed() throws {
        self.kii = CloudHarness(servesWebSocket: false)
        let user = try self.kii.user()
        let id = try self.kii.installation(of: user).id
        let endpoint = self.endpoint(id, user).json
        #expect(endpoint["portTCP"] != nil)
        #expect(endpoint["portWS"] == nil)
        #expect(endpoint["portWSS"] == nil)
    }
}
