/// Creates an installation, or finds the one that is there.
///
/// An owner has at most one installation for MQTT: creating it again returns the same one. On the other networks the
/// registration ID is the key: creating it again gives it to the caller.
///
/// - Source: `POST /apps/{appID}/installations`
public struct CreateInstallation: KiiEndpoint {
    /// The network.
    public var deviceType: DeviceType
    /// Whether it is to get what is sent to development rather than to production.
    public var isDevelopment: Bool
    /// The network's own ID. `nil` for MQTT, where the cloud makes it up; needed for the others.
    public var registrationID: String?
    /// Whose it is to be; for an administrator's token only. `nil` means the token's principal.
    public var owner: Principal?
    /// How its pushes are written; for MQTT, and for the emulator, which alone knows it. `nil` leaves it as it is, and out
    /// of the call.
    public var payload: PayloadFormat?

    /// Makes the call.
    ///
    /// - Parameters:
    ///   - deviceType: The network. Default MQTT.
    ///   - isDevelopment: Whether it is to get what is sent to development. Default `false`: production.
    ///   - registrationID: The network's own ID. Default `nil`, as MQTT wants it.
    ///   - owner: Whose it is to be, with an administrator's token. Default `nil`: the token's principal.
    ///   - payload: How its pushes are written, which the emulator alone knows. Default `nil`: as they are.
    public init(
        deviceType: DeviceType = .mqtt,
        isDevelopment: Bool = false,
        registrationID: String? = nil,
        owner: Principal? = nil,
        payload: PayloadFormat? = nil
    ) {
        self.deviceType = deviceType
        self.isDevelopment = isDevelopment
        self.registrationID = registrationID
        self.owner = owner
        self.payload = payload
    }

    /// POST.
    public var method: HTTPMethod { .post }
    /// True: what is there is returned.
    public var isIdempotent: Bool { true }
    /// 201; 200 is taken as well, since Kii does not say what a repetition answers.
    public var successStatuses: Set<Int> { [200, 201] }

    /// The installation's description.
    public var body: KiiBody {
        var fields: [(String, JSONValue)] = [
            ("deviceType", JSONValue(self.deviceType.rawValue)), ("development", JSONValue(self.isDevelopment)),
        ]
        if let registrationID { fields.append(("installationRegistrationID", JSONValue(registrationID))) }
        switch self.owner {
        case .user(let id): fields.append(("userID", JSONValue(id)))
        case .thing(let id): fields.append(("thingID", JSONValue(id)))
        case nil: break
        }
        if let payload { fields.append(("payload", JSONValue(payload.rawValue))) }
        return .json(.object(fields), mediaType: "application/vnd.kii.InstallationCreationRequest+json")
    }

    /// `/apps/{appID}/installations`.
    public func path(in app: KiiApp) -> KiiPath {
        .app(app).appending("installations")
    }

    /// Refuses a registration ID for MQTT, and the lack of one for another network.
    public func validate() throws(KiiInputError) {
        let rule: String? =
            switch self.registrationID {
            case nil: self.deviceType == .mqtt ? nil : "present for \(self.deviceType.rawValue)"
            case .some where self.deviceType == .mqtt: "absent for MQTT, where the cloud makes it up"
            case .some(let id): id.isEmpty ? "not empty" : nil
            }
        if let rule { throw KiiInputError(.installationRegistrationID, rule: rule) }
    }

    /// Reads `installationID` and what else the answer says; the network is the one that was asked for.
    public func decode(_ response: KiiResponse) throws(KiiResponseError) -> Installation {
        var installation = try Installation(response.fields())
        installation.deviceType = installation.deviceType ?? self.deviceType
        installation.owner = installation.owner ?? self.owner
        return installation
    }
}
