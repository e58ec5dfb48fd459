/// The ways to name a thing.
public enum ThingReference: Sendable, Hashable {
    /// By the ID that the cloud chose (`th.…`).
    case id(String)
    /// By the ID that the vendor chose, in the path as `VENDOR_THING_ID:{vendorThingID}`.
    case vendorThingID(String)

    func path() throws(KiiInputError) -> KiiPath {
        let things = KiiPath("things")
        switch self {
        case .id(let id): return things.appending(id, as: .thingID)
        case .vendorThingID(let id):
            try ThingRegistration.validate(vendorThingID: id)
            return things.appending("VENDOR_THING_ID:\(id)", as: .vendorThingID)
        }
    }
}

/// A thing's data in the cloud.
public struct KiiThing: Sendable, Hashable {
    /// The ID that the cloud chose (`th.…`).
    public var thingID: String
    /// The ID that the vendor chose.
    public var vendorThingID: String
    /// The kind of thing, if any.
    public var thingType: String?
    /// The time of registration, by the cloud's clock. `nil` if the cloud did not send it.
    public var createdAt: Timestamp?
    /// Further fields, Kii's (such as `_vendor`) and the app's own: a JSON object.
    public var fields: JSONValue
}

extension KiiThing {
    private static let namedFields: Set<String> = ["_thingID", "_vendorThingID", "_thingType", "_created"]

    init(_ fields: KiiFields) throws(KiiResponseError) {
        self.thingID = try fields.string("_thingID")
        self.vendorThingID = try fields.string("_vendorThingID")
        self.thingType = try fields.optionalString("_thingType")
        self.createdAt = try fields.optionalTimestamp("_created")
        self.fields = fields.members(except: Self.namedFields.contains)
    }
}

extension KiiSession {
    /// Reads a thing's data. The thing itself, its owner and an administrator may read the data.
    ///
    /// - Throws: ``KiiError`` with `THING_NOT_FOUND`.
    /// - Source: `GET /apps/{appID}/things/{thingID}` and `/things/VENDOR_THING_ID:{vendorThingID}`
    public func thing(_ reference: ThingReference) async throws -> KiiThing {
        try await self.perform(.reading(reference.path(), KiiThing.init))
    }
}
