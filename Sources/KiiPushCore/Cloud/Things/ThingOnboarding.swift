/// Who owns a thing.
public enum ThingOwner: Sendable, Hashable {
    /// A user, by `userID`.
    case user(String)
    /// A group, by `groupID`.
    case group(String)

    /// As it stands in a body, such as `user:{userID}`.
    fileprivate func onboarding() throws(KiiInputError) -> JSONMembers {
        let (kind, id, field): (String, String, KiiInputError.Field) =
            switch self {
            case .user(let id): ("user", id, .userID)
            case .group(let id): ("group", id, .groupID)
            }
        try KiiInputError.refuseEmpty(id, field)
        return [("owner", JSONValue("\(kind):\(id)"))]
    }
}

/// What is said of a thing when it is onboarded for the first time. Of a thing that is registered the cloud keeps what
/// it has.
public struct ThingDescription: Sendable, Hashable {
    /// What kind of thing it is. Default `nil`.
    package var thingType: String?
    /// The version of its firmware. Default `nil`.
    package var firmwareVersion: String?
    /// Where it stands among other things. Default `nil`: on its own.
    package var layoutPosition: LayoutPosition?
    /// Further fields, Kii's predefined ones (`_vendor`, …) and the app's own: a JSON object. Default: none.
    package var properties: JSONValue

    /// Describes a thing.
    public init(
        thingType: String? = nil, firmwareVersion: String? = nil, layoutPosition: LayoutPosition? = nil,
        properties: JSONValue = [:]
    ) {
        (self.thingType, self.firmwareVersion) = (thingType, firmwareVersion)
        (self.layoutPosition, self.properties) = (layoutPosition, properties)
    }

    /// The members that are set, under the names of the body.
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

/// Where a thing stands among other things, as thing-if's SDKs name it. The raw values are the server's.
public enum LayoutPosition: String, Sendable, Hashable {
    /// On its own.
    case standalone = "STANDALONE"
    /// It speaks for things behind it.
    case gateway = "GATEWAY"
    /// It is reached through a gateway.
    case endNode = "ENDNODE"
}

/// A thing as it was onboarded: all it needs to receive pushes.
public struct OnboardedThing: Sendable, Hashable {
    /// The ID that the cloud chose (`th.…`).
    public var thingID: String
    /// The thing's token.
    public var accessToken: AccessToken
    /// Where and as whom the thing connects to the broker. It names the installation that onboarding made.
    public var mqttEndpoint: MQTTEndpoint
}

/// Onboarding registers a thing if it is not there, binds it to an owner if there is one, and gets a token and an MQTT
/// endpoint for it. The password counts: the first onboarding sets it, every further one must name it. A further one
/// hands out a further token and changes nothing else, so a call whose answer was lost is repeated.
///
/// - Source: `POST /thing-if/apps/{appID}/onboardings`, with one media type for each way
extension KiiClient {
    /// Onboards a thing by itself. It gets no owner.
    ///
    /// - Parameters:
    ///   - vendorThingID: The ID its vendor gave it: 1 to 200 of `A-Z a-z 0-9 - _ .`.
    ///   - password: The thing's password.
    ///   - description: What is said of a thing that is not registered yet. Default: nothing.
    /// - Throws: See ``KiiClient``.
    public func onboardThing(
        vendorThingID: String, password: Secret, description: ThingDescription = ThingDescription()
    ) async throws -> OnboardedThing {
        let members = try description.onboarding(vendorThingID: vendorThingID)
        let call = try KiiCall.onboarding("OnboardingWithVendorThingIDByThing", members, password)
        return try await self.perform(call.with { $0.authorization = .app })
    }
}

/// Onboarding by an owner; for a group, by a member.
extension KiiSession {
    /// Onboards a thing by its owner, who knows the ID that the vendor gave it.
    ///
    /// - Parameters:
    ///   - vendorThingID: The ID its vendor gave it: 1 to 200 of `A-Z a-z 0-9 - _ .`.
    ///   - password: The thing's password.
    ///   - owner: The user or group that is to own it.
    ///   - description: What is said of a thing that is not registered yet. Default: nothing.
    /// - Returns: The thing with a token of its own.
    public func onboardThing(
        vendorThingID: String, password: Secret, owner: ThingOwner, description: ThingDescription = ThingDescription()
    ) async throws -> OnboardedThing {
        let members = try owner.onboarding() + description.onboarding(vendorThingID: vendorThingID)
        return try await self.perform(.onboarding("OnboardingWithVendorThingIDByOwner", members, password))
    }

    /// Onboards a thing that is registered by its owner.
    ///
    /// - Parameters:
    ///   - thingID: The ID that the cloud gave it (`th.…`).
    ///   - password: The thing's password.
    ///   - owner: The user or group that is to own it.
    /// - Returns: The thing with a token of its own.
    /// - Throws: ``KiiError`` with `THING_NOT_FOUND` when there is no such thing.
    public func onboardThing(thingID: String, password: Secret, owner: ThingOwner) async throws -> OnboardedThing {
        let members = try owner.onboarding()
        try KiiInputError.refuseEmpty(thingID, .thingID)
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
