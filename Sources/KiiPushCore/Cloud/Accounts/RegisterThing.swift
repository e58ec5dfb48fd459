/// A thing that is to be registered.
public struct ThingRegistration: Sendable, Hashable {
    /// The ID its vendor gave it, unique within the app: 1 to 200 of `A-Z a-z 0-9 - _ .`.
    public var vendorThingID: String
    /// The password it signs in with.
    public var password: Secret
    /// What kind of thing it is. Default `nil`.
    public var thingType: String?
    /// Further fields, Kii's predefined ones (`_vendor`, `_firmwareVersion`, …) and the app's own: an object.
    /// Default: none.
    public var fields: JSONValue

    /// Describes a thing.
    public init(vendorThingID: String, password: Secret, thingType: String? = nil, fields: JSONValue = [:]) {
        self.vendorThingID = vendorThingID
        self.password = password
        self.thingType = thingType
        self.fields = fields
    }

    static func validate(vendorThingID: String) throws(KiiInputError) {
        guard (1...200).contains(vendorThingID.utf8.count), vendorThingID.utf8.allSatisfy(\.isKiiNameByte) else {
            throw KiiInputError(.vendorThingID, rule: "1 to 200 of A-Z a-z 0-9 - _ .")
        }
    }

    private static let reservedNames: Set<String> = ["_vendorThingID", "_password", "_thingType", "_thingID"]

    func validate() throws(KiiInputError) {
        try Self.validate(vendorThingID: self.vendorThingID)
        guard !self.password.reveal().isEmpty else {
            throw KiiInputError(.password, rule: "present and not empty")
        }
        guard let members = self.fields.members else {
            throw KiiInputError(.fields, at: JSONPointer(), rule: "a JSON object")
        }
        for member in members where Self.reservedNames.contains(member.key) {
            throw KiiInputError(
                .fields, at: JSONPointer(tokens: [member.key]), rule: "under a key that this call does not set itself")
        }
    }
}

/// Registers a thing, and signs it in if asked to.
///
/// - Source: `POST /apps/{appID}/things`
public struct RegisterThing: KiiEndpoint {
    /// What is to be registered.
    public var registration: ThingRegistration
    /// Whether a token comes back.
    public var grantsToken: Bool

    /// Makes the call.
    ///
    /// - Parameters:
    ///   - registration: What is to be registered.
    ///   - grantsToken: Whether a token comes back. Default `true`.
    public init(_ registration: ThingRegistration, grantsToken: Bool = true) {
        self.registration = registration
        self.grantsToken = grantsToken
    }

    /// POST.
    public var method: HTTPMethod { .post }
    /// The app's ID and key.
    public var authorization: KiiAuthorization { .app }
    /// 201; 200 is taken as well.
    public var successStatuses: Set<Int> { [200, 201] }
    /// The password.
    public var secrets: [Secret] { [self.registration.password] }

    /// The registration; the media type decides whether a token comes back.
    public var body: KiiBody {
        var fields: [(String, JSONValue)] = [
            ("_vendorThingID", JSONValue(self.registration.vendorThingID)),
            ("_password", JSONValue(self.registration.password.reveal())),
        ]
        if let thingType = self.registration.thingType { fields.append(("_thingType", JSONValue(thingType))) }
        fields += (self.registration.fields.members ?? []).map { ($0.key, $0.value) }
        let request = self.grantsToken ? "ThingRegistrationAndAuthorizationRequest" : "ThingRegistrationRequest"
        return .json(.object(fields), mediaType: "application/vnd.kii.\(request)+json")
    }

    /// `/apps/{appID}/things`.
    public func path(in app: KiiApp) -> KiiPath {
        .app(app).appending("things")
    }

    /// Refuses an illegal vendor thing ID, an empty password and fields that are no object or already set.
    public func validate() throws(KiiInputError) {
        try self.registration.validate()
    }

    /// Reads `_thingID` and, if asked for, `_accessToken`.
    public func decode(_ response: KiiResponse) throws(KiiResponseError) -> RegisteredThing {
        let fields = try response.fields()
        let thingID = try fields.string("_thingID")
        var token: AccessToken?
        if self.grantsToken {
            token = AccessToken(principal: .thing(thingID), token: Secret(try fields.string("_accessToken")))
        }
        return RegisteredThing(
            thingID: thingID, vendorThingID: self.registration.vendorThingID, accessToken: token,
            createdAt: try fields.optionalTimestamp("_created"))
    }
}

/// A thing as the cloud registered it.
public struct RegisteredThing: Sendable, Hashable {
    /// The ID that the cloud chose (`th.…`).
    public var thingID: String
    /// The ID its vendor gave it.
    public var vendorThingID: String
    /// The thing's token. `nil` if none was asked for.
    public var accessToken: AccessToken?
    /// When it was registered, by the cloud's clock. `nil` when the cloud did not say.
    public var createdAt: Timestamp?

    /// Describes a thing.
    public init(thingID: String, vendorThingID: String, accessToken: AccessToken?, createdAt: Timestamp?) {
        self.thingID = thingID
        self.vendorThingID = vendorThingID
        self.accessToken = accessToken
        self.createdAt = createdAt
    }
}
