import KiiPushCore

struct ThingRecord: StoredRecord {
    static let table = "thing"

    static let legalNames = "1 to 200 of A-Z, a-z, 0-9, `-`, `_` and `.`"

    static func isLegal(vendorThingID: String) -> Bool { Names.isLegal(vendorThingID, 1...200, extra: "-_.") }

    var id: String
    var vendorThingID: String
    var password: Secret
    /// The thing's fields, except the password.
    var attributes: JSONValue
    /// Users, and groups with all of their members.
    var owners: Set<Scope> = []
    /// The unconfirmed requests for ownership, by the owner's `text`.
    var ownershipRequests: [String: OwnershipRequest] = [:]
    /// Whether the thing can neither log in nor use its tokens.
    var isDisabled = false

    var key: String { self.id }

    var json: JSONValue {
        .object(present: [
            "id": self.id, "vendorThingID": self.vendorThingID, "password": self.password.reveal(),
            "attributes": self.attributes, "owners": self.owners(of: "user"), "ownerGroups": self.owners(of: "group"),
            "ownershipRequests": JSONValue.object(
                self.ownershipRequests.sorted { $0.key < $1.key }.map { ($0.key, $0.value.json) }),
            "disabled": self.isDisabled,
        ])
    }

    /// - Parameter kind: `user` or `group`.
    func owners(of kind: String) -> [String] {
        self.owners.compactMap { $0.parts }.filter { $0.kind == kind }.map { $0.id }.sorted()
    }

    /// Removes the ownership and the owner's pending request. Returns `false` if the thing has neither.
    @discardableResult
    mutating func remove(_ owner: Scope) -> Bool {
        let hadRequest = self.ownershipRequests.removeValue(forKey: owner.text) != nil
        return self.owners.remove(owner) != nil || hadRequest
    }

    var description: JSONMembers {
        [("_thingID", JSONValue(self.id))] + self.attributes.pairs + [("_disabled", JSONValue(self.isDisabled))]
    }
}

extension ThingRecord {
    init?(json: JSONValue) {
        guard let id = json["id"]?.string, let vendorThingID = json["vendorThingID"]?.string,
            let password = json.secret("password"), let attributes = json["attributes"],
            let owners = json.texts("owners")
        else { return nil }
        self.init(
            id: id, vendorThingID: vendorThingID, password: password, attributes: attributes,
            owners: Set(owners.map { .user($0) } + (json.texts("ownerGroups") ?? []).map { .group($0) }),
            isDisabled: json["disabled"]?.bool ?? false)
        for (owner, request) in json["ownershipRequests"]?.pairs ?? [] {
            self.ownershipRequests[owner] = OwnershipRequest(json: request)
        }
    }
}

struct OwnershipRequest {
    var code: Secret
    /// Whether the thing made the request, so that the future owner has to confirm.
    var isByThing: Bool

    var json: JSONValue { .object(all: ["code": self.code.reveal(), "byThing": self.isByThing]) }
}

extension OwnershipRequest {
    init?(json: JSONValue) {
        guard let code = json.secret("code"), let isByThing = json["byThing"]?.bool else { return nil }
        self.init(code: code, isByThing: isByThing)
    }
}
