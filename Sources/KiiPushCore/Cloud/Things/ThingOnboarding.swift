/// How a thing is onboarded, and by whom: registered if it is not there, bound to an owner if there is one, and given
/// a token and an MQTT endpoint.
public enum ThingOnboarding: Sendable, Hashable {
    /// By the thing itself, which gets no owner.
    case byThing(vendorThingID: String, ThingDescription = ThingDescription())
    /// By an owner who knows the ID that the vendor gave the thing.
    case byOwner(ThingOwner, vendorThingID: String, ThingDescription = ThingDescription())
    /// By an owner of a thing that is registered, by the ID that the cloud gave it (`th.…`).
    case byOwnerOfRegistered(ThingOwner, thingID: String)
}

/// Who owns a thing.
public enum ThingOwner: Sendable, Hashable {
    /// A user, by `userID`.
    case user(String)
    /// A group, by `groupID`.
    case group(String)

    /// As it stands in a body, such as `user:{userID}`.
    var text: String {
        switch self {
        case .user(let id): "user:\(id)"
        case .group(let id): "group:\(id)"
        }
    }

    func validate() throws(KiiInputError) {
        switch self {
        case .user(""): throw KiiInputError(.userID, rule: "not empty")
        case .group(""): throw KiiInputError(.groupID, rule: "not empty")
        case .user, .group: return
        }
    }
}

/// What is said of a thing when it is onboarded for the first time. Of a thing that is registered the cloud keeps what
/// it has.
public struct ThingDescription: Sendable, Hashable {
    /// What kind of thing it is. Default `nil`.
    public var thingType: String?
    /// The version of its firmware. Default `nil`.
    public var firmwareVersion: String?
    /// Where it stands among other things. Default `nil`: on its own.
    public var layoutPosition: LayoutPosition?
    /// Further fields, Kii's predefined ones (`_vendor`, …) and the app's own: a JSON object. Default: none.
    public var properties: JSONValue

    /// Describes a thing.
    public init(
        thingType: String? = nil,
        firmwareVersion: String? = nil,
        layoutPosition: LayoutPosition? = nil,
        properties: JSONValue = [:]
    ) {
        self.thingType = thingType
        self.firmwareVersion = firmwareVersion
        self.layoutPosition = layoutPosition
        self.properties = properties
    }

    func validate() throws(KiiInputError) {
        guard self.properties.kind == .object else {
            throw KiiInputError(.thingProperties, at: JSONPointer(), rule: "a JSON object")
        }
    }

    /// The members that are set, under the names of the body.
    var members: [(String, JSONValue)] {
        var members: [(String, JSONValue)] = []
        if let thingType = self.thingType { members.append(("thingType", JSONValue(thingType))) }
        if let version = self.firmwareVersion { members.append(("firmwareVersion", JSONValue(version))) }
        if let position = self.layoutPosition { members.append(("layoutPosition", JSONValue(position.rawValue))) }
        if self.properties.members?.isEmpty == false { members.append(("thingProperties", self.properties)) }
        return members
    }
}

/// Where a thing stands among other things. A position that has no constant here is kept as it is.
///
/// - Source: thing-if's SDKs
public struct LayoutPosition: RawRepresentable, Sendable, Hashable {
    /// The position as the server spells it.
    public var rawValue: String

    /// Takes a position as the server spells it.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// On its own.
    public static let standalone = Self(rawValue: "STANDALONE")
    /// It speaks for things behind it.
    public static let gateway = Self(rawValue: "GATEWAY")
    /// It is reached through a gateway.
    public static let endNode = Self(rawValue: "ENDNODE")
}
