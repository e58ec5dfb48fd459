import KiiPushCore

struct InstallationRecord: StoredRecord {
    static let table = "installation"

    enum DeviceType: String, Sendable, CaseIterable {
        case android = "ANDROID"
        case ios = "IOS"
        case jpush = "JPUSH"
        case mqtt = "MQTT"
    }

    /// The formats of pushes over MQTT, an extension of the emulator: Kii's format for MQTT, and Kii's format for Apple.
    static let payloads: [PushNetwork] = [.mqtt, .apns]

    var id: String
    var deviceType: DeviceType
    /// The network's ID of the device. For MQTT, the cloud chooses an ID.
    var registrationID: String
    var owner: Principal
    var isDevelopment: Bool
    var createdAt: Timestamp
    var payload = PushNetwork.mqtt
    var credential: BrokerCredential?
    /// The end of the credential's lifetime; `nil` for no end, and before the first request for the endpoint.
    var endpointExpiresAt: Timestamp?

    var key: String { self.id }

    /// The installation may read only this topic. The topic is also the client ID.
    var mqttTopic: String? { self.credential.map { BrokerFiles.topicPrefix + $0.username } }

    var json: JSONValue {
        .object(present: [
            "id": self.id, "deviceType": self.deviceType.rawValue, "registrationID": self.registrationID,
            "owner": self.owner.text, "development": self.isDevelopment, "createdAt": self.createdAt.json,
            "payload": self.payload == .mqtt ? String?.none : self.payload.rawValue,
            "username": self.credential?.username, "password": self.credential?.password.reveal(),
            "endpointExpiresAt": self.endpointExpiresAt?.json,
        ])
    }

    var description: JSONMembers {
        [
            ("installationID", JSONValue(self.id)), ("installationRegistrationID", JSONValue(self.registrationID)),
            ("deviceType", JSONValue(self.deviceType.rawValue)), ("development", JSONValue(self.isDevelopment)),
        ] + self.owner.scope.fields
    }
}

extension InstallationRecord {
    init?(json: JSONValue) {
        guard let id = json["id"]?.string,
            let deviceType = json["deviceType"]?.string.flatMap({ DeviceType(rawValue: $0) }),
            let registrationID = json["registrationID"]?.string, let owner = json.principal("owner"),
            let isDevelopment = json["development"]?.bool, let createdAt = json.time("createdAt")
        else { return nil }
        self.init(
            id: id, deviceType: deviceType, registrationID: registrationID, owner: owner,
            isDevelopment: isDevelopment, createdAt: createdAt,
            payload: json["payload"]?.string.flatMap { PushNetwork(rawValue: $0) } ?? .mqtt,
            endpointExpiresAt: json.time("endpointExpiresAt"))
        if let username = json["username"]?.string, let password = json.secret("password") {
            self.credential = BrokerCredential(username: username, password: password)
        }
    }
}
