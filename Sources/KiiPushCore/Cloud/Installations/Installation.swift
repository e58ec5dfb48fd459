/// A receiver of pushes: a user or a thing on one network. A property is `nil` if the cloud did not send it.
public struct Installation: Sendable, Hashable {
    /// The ID that the cloud chose.
    public var id: String
    /// The network's own ID: a registration ID or device token; for MQTT, an ID that the cloud made.
    public var registrationID: String?
    /// The network; also `nil` for a network that the library does not know.
    public var deviceType: DeviceType?
    /// The owner. Kii's answer to a creation does not name the owner.
    public var owner: Principal?
    /// Whether the installation receives development messages; otherwise production messages.
    public var isDevelopment: Bool?
}

extension Installation {
    init(_ fields: KiiFields) throws(KiiResponseError) {
        self.id = try fields.string("installationID")
        self.registrationID = try fields.optionalString("installationRegistrationID")
        // kii-rest-client4j shows that Kii also uses the name `installationType`.
        self.deviceType = try fields.optionalString("deviceType", "installationType").flatMap {
            DeviceType(rawValue: $0)
        }
        if let userID = try fields.optionalString("userID") {
            self.owner = .user(userID)
        } else {
            self.owner = try fields.optionalString("thingID").map { .thing($0) }
        }
        self.isDevelopment = try fields.optionalBool("development")
    }
}

/// The network of an installation. The raw value is Kii's name.
public enum DeviceType: String, Sendable, Hashable {
    /// MQTT, the network on which this library receives.
    case mqtt = "MQTT"
    /// GCM and FCM.
    case android = "ANDROID"
    /// APNs.
    case ios = "IOS"
    /// JPush.
    case jpush = "JPUSH"
}

/// The ways to name an installation.
public enum InstallationReference: Sendable, Hashable {
    /// By the ID that the cloud chose.
    case id(String)
    /// By network and the network's own ID: `MQTT:{installationRegistrationID}` in the path.
    case registration(DeviceType, String)

    func path() throws(KiiInputError) -> KiiPath {
        switch self {
        case .id(let id): return KiiPath("installations").appending(id, as: .installationID)
        case .registration(let type, let id):
            try KiiInputError.require(id, .installationRegistrationID)
            return KiiPath("installations").appending("\(type.rawValue):\(id)", as: .installationRegistrationID)
        }
    }
}
