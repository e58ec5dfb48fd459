/// The ways to name a thing.
public enum ThingReference: Sendable, Hashable {
    /// By the ID that the cloud chose (`th.…`).
    case id(String)
    /// By the ID that its vendor gave it, in the path as `VENDOR_THING_ID:{vendorThingID}`.
    case vendorThingID(String)

    func path(in app: KiiApp) -> KiiPath {
        let things = KiiPath.app(app).appending("things")
        switch self {
        case .id(let id): return things.appending(id, as: .thingID)
        case .vendorThingID(let id): return things.appending("VENDOR_THING_ID:\(id)", as: .vendorThingID)
        }
    }

    func validate() throws(KiiInputError) {
        if case .vendorThingID(let id) = self { try ThingRegistration.validate(vendorThingID: id) }
    }
}

/// A thing as the cloud knows it.
public struct KiiThing: Sendable, Hashable {
    /// The ID that the cloud chose (`th.…`).
    public var thingID: String
    /// The ID that its vendor gave it.
    public var vendorThingID: String
    /// What kind of thing it is. `nil` when it was not said.
    public var thingType: String?
    /// When it was registered, by the cloud's clock. `nil` when the cloud did not say.
    public var createdAt: Timestamp?
    /// The further fields, Kii's predefined ones (`_vendor`, `_firmwareVersion`, …) and the app's own: an object.
    public var fields: JSONValue

    /// Describes a thing.
    public init(
        thingID: String,
        vendorThingID: String,
        thingType: String? = nil,
        createdAt: Timestamp? = nil,
        fields: JSONValue = [:]
    ) {
        self.thingID = thingID
        self.vendorThingID = vendorThingID
        self.thingType = thingType
        self.createdAt = createdAt
        self.fields = fields
    }
}

/// Reads what the cloud knows about a thing; for the thing itself, its owner and an administrator. With a thing's own
/// token it tells whether that is good.
///
/// - Source: `GET /apps/{appID}/things/{thingID}` and `/things/VENDOR_THING_ID:{vendorThingID}`
public struct GetThing: KiiEndpoint {
    /// Which one.
    public var reference: ThingReference

    /// Makes the call.
    public init(_ reference: ThingReference) {
        self.reference = reference
    }

    /// GET.
    public var method: HTTPMethod { .get }
    /// 200.
    public var successStatuses: Set<Int> { [200] }

    /// The thing's path.
    public func path(in app: KiiApp) -> KiiPath { self.reference.path(in: app) }

    /// Refuses a vendor thing ID that no thing can have.
    public func validate() throws(KiiInputError) { try self.reference.validate() }

    private static let namedFields: Set<String> = ["_thingID", "_vendorThingID", "_thingType", "_created"]

    /// Reads `_thingID`, `_vendorThingID` and what else is there.
    public func decode(_ response: KiiResponse) throws(KiiResponseError) -> KiiThing {
        let fields = try response.fields()
        return KiiThing(
            thingID: try fields.string("_thingID"),
            vendorThingID: try fields.string("_vendorThingID"),
            thingType: try fields.optionalString("_thingType"),
            createdAt: try fields.optionalTimestamp("_created"),
            fields: fields.members(except: Self.namedFields.contains)
        )
    }
}
