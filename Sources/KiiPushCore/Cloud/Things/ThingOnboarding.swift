/// The owner of a thing.
public enum ThingOwner: Sendable, Hashable {
    /// A user, by `userID`.
    case user(String)
    /// A group, by `groupID`.
    case group(String)

    fileprivate func onboarding() throws(KiiInputError) -> JSONMembers {
        let (kind, id, field): (String, String, KiiInputError.Field) =
            switch self {
            case .user(let id): ("user", id, .userID)
            case .group(let id): ("group", id, .groupID)
            }
        try KiiInputError.require(id, field)
        return [("owner", JSONValue("\(kind):\(id)"))]
    }
}

/// A description for a thing's first onboarding. For a registered thing, the cloud keeps the existing data instead.
public struct ThingDescription: Sendable, Hashable {
    package var thingType: String?
    package var firmwareVersion: String?
    package var layoutPosition: LayoutPosition?
    package var properties: JSONValue

    /// Describes a thing.
    ///
    /// - Parameters:
    ///   - thingType: the kind of thing.
    ///   - firmwareVersion: the version of the thing's firmware.
    ///   - layoutPosition: the thing's place among other things. Default `nil`: standalone.
    ///   - properties: further fields, Kii's (such as `_vendor`) and the app's own: a JSON object. Default: none.
    public init(
        thingType: String? = nil, firmwareVersion: String? = nil, layoutPosition: LayoutPosition? = nil,
        properties: JSONValue = [:]
    ) {
        (self.thingType, self.firmwareVersion) = (thingType, firmwareVersion)
        (self.layoutPosition, self.properties) = (layoutPosition, properties)
    }

    fileprivate func onboarding(vendorThingID: String) throws(KiiInputError) -> JSONMembers {
        try ThingRegistration.validate(vendorThingID: vendorThingID)
        guard let properties = self.properties.members else {
            throw KiiInputError(.thingProperties, at: JSONPointer(), rule: "a JSON object")
        }
        return JSONMembers(present: [
            "vendorThingID": vendorThingID, "thingType": self.thingType, "firmwareVersion": self.firmwareVersion,
            "layoutPosition": self.layoutPosition?.rawValue,
            "thingProperties": properties.isEmpty ? JSONValue?.none : self.properties,
        ])
    }
}

/// A thing's place among other things. The raw values are the server's.
public enum LayoutPosition: String, Sendable, Hashable {
    /// The thing works on its own.
    case standalone = "STANDALONE"
    /// The thing connects other things to the cloud.
    case gateway = "GATEWAY"
    /// The cloud reaches the thing through a gateway.
    case endNode = "ENDNODE"
}

/// An onboarded thing, with everything that it needs to receive pushes.
public struct OnboardedThing: Sendable, Hashable {
    /// The ID that the cloud chose (`th.…`).
    public var thingID: String
    /// The thing's token.
    public var accessToken: AccessToken
    /// The broker's address, and the credentials of the installation that the onboarding made.
    public var mqttEndpoint: MQTTEndpoint
}

/// Onboarding registers a thing if it does not exist, binds the thing to its owner if there is one, and returns a token
/// and an MQTT endpoint.
///
/// The first onboarding sets the password. A later onboarding needs the same password, and issues a further token.
///
/// - Source: `POST /thing-if/apps/{appID}/onboardings`
extension KiiClient {
    /// Onboards a thing without an owner. `vendorThingID` has 1 to 200 of `A-Z a-z 0-9 - _ .`.
    public func onboardThing(
        vendorThingID: String, password: Secret, description: ThingDescription = ThingDescription()
    ) async throws -> OnboardedThing {
        let members = try description.onboarding(vendorThingID: vendorThingID)
        let call = try KiiCall.onboarding("OnboardingWithVendorThingIDByThing", members, password)
        return try await self.perform(call.with { $0.authorization = .app })
    }
}

/// Onboarding by an owner, or by a member of the group that owns the thing.
extension KiiSession {
    /// Onboards a thing for an owner. `vendorThingID` has 1 to 200 of `A-Z a-z 0-9 - _ .`.
    public func onboardThing(
        vendorThingID: String, password: Secret, owner: ThingOwner, description: ThingDescription = ThingDescription()
    ) async throws -> OnboardedThing {
        let members = try owner.onboarding() + description.onboarding(vendorThingID: vendorThingID)
        return try await self.perform(.onboarding("OnboardingWithVendorThingIDByOwner", members, password))
    }

    /// Onboards a registered thing, by the ID that the cloud chose (`th.…`), for an owner.
    ///
    /// - Throws: ``KiiError`` with `THING_NOT_FOUND`.
    public func onboardThing(thingID: String, password: Secret, owner: ThingOwner) async throws -> OnboardedThing {
        let members = try owner.onboarding()
        try KiiInputError.require(thingID, .thingID)
        return try await self.perform(
            .onboarding("OnboardingWithThingIDByOwner", members + [("thingID", JSONValue(thingID))], password))
    }
}

extension KiiCall where Answer == OnboardedThing {
    fileprivate static func onboarding(
        _ way: String, _ members: JSONMembers, _ password: Secret
    ) throws(KiiInputError) -> Self {
        try KiiInputError.require(password.reveal(), .password)
        return Self(.post, KiiPath("onboardings"), statuses: [200, 201]) { response throws(KiiResponseError) in
            let fields = try response.fields()
            let thingID = try fields.string("thingID")
            let endpoint = try fields.required("mqttEndpoint").object()
            return OnboardedThing(
                thingID: thingID,
                accessToken: AccessToken(principal: .thing(thingID), token: try fields.secret("accessToken")),
                mqttEndpoint: try MQTTEndpoint(endpoint, of: endpoint.string("installationID"), in: response))
        }.with {
            $0.service = .thingIF
            $0.isIdempotent = true
            $0.secrets = [password]
            $0.body = .kii(way, members + [("thingPassword", JSONValue(password.reveal()))])
        }
    }
}
