/// A thing to register.
public struct ThingRegistration: Sendable, Hashable {
    package var vendorThingID: String
    package var password: Secret
    package var thingType: String?
    package var fields: JSONValue

    /// Describes a thing. `vendorThingID` is unique within the app: 1 to 200 of `A-Z a-z 0-9 - _ .`.
    ///
    /// `fields` is a JSON object of further fields, Kii's (such as `_vendor`) and the app's own.
    public init(vendorThingID: String, password: Secret, thingType: String? = nil, fields: JSONValue = [:]) {
        (self.vendorThingID, self.password) = (vendorThingID, password)
        (self.thingType, self.fields) = (thingType, fields)
    }

    static func validate(vendorThingID: String) throws(KiiInputError) {
        try vendorThingID.requireKiiName(1...200, .vendorThingID)
    }

    fileprivate var members: JSONMembers {
        let named = JSONMembers(present: [
            "_vendorThingID": self.vendorThingID, "_password": self.password.reveal(), "_thingType": self.thingType,
        ])
        return named + self.fields.pairs
    }

    private static let reservedNames: Set<String> = ["_vendorThingID", "_password", "_thingType", "_thingID"]

    func validate() throws(KiiInputError) {
        try Self.validate(vendorThingID: self.vendorThingID)
        try KiiInputError.require(self.password.reveal(), .password)
        try self.fields.requireObject(
            without: Self.reservedNames.contains, rule: "under a key that this call does not set itself")
    }
}

/// A thing as the cloud registered it.
public struct RegisteredThing: Sendable, Hashable {
    /// The ID that the cloud chose (`th.…`).
    public var thingID: String
    package var vendorThingID: String
    /// The thing's token. `nil` if the caller requested no token.
    public var accessToken: AccessToken?
    package var createdAt: Timestamp?
}

extension KiiClient {
    /// Registers a thing. With `grantsToken` the cloud also returns a token of the thing.
    ///
    /// - Throws: ``KiiError`` with `THING_ALREADY_EXISTS` when the app has another thing with this vendorThingID.
    /// - Source: `POST /apps/{appID}/things`; the body's media type depends on `grantsToken`
    public func registerThing(
        _ registration: ThingRegistration, grantsToken: Bool = true
    ) async throws -> RegisteredThing {
        try registration.validate()
        let call = KiiCall(.post, KiiPath("things"), statuses: [200, 201]) { response throws(KiiResponseError) in
            let fields = try response.fields()
            let thingID = try fields.string("_thingID")
            let token = try grantsToken ? fields.secret("_accessToken") : nil
            return RegisteredThing(
                thingID: thingID, vendorThingID: registration.vendorThingID,
                accessToken: token.map { AccessToken(principal: .thing(thingID), token: $0) },
                createdAt: try fields.optionalTimestamp("_created"))
        }.with {
            $0.authorization = .app
            $0.secrets = [registration.password]
            let form = grantsToken ? "ThingRegistrationAndAuthorizationRequest" : "ThingRegistrationRequest"
            $0.body = .kii(form, registration.members)
        }
        return try await self.perform(call)
    }
}
