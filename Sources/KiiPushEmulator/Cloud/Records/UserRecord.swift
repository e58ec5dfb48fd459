import KiiPushCore

struct UserRecord: StoredRecord {
    static let table = "user"
    /// The fields that identify a user. Two users of the app never share a value of the same field.
    static let names = ["loginName", "emailAddress", "phoneNumber"]
    /// Kii's fields, by type. The cloud itself sets which address is verified; a client's value is only checked for
    /// its type.
    static let known: [String: JSONValue.Kind] = [
        "loginName": .string, "displayName": .string, "country": .string, "locale": .string, "emailAddress": .string,
        "emailAddressVerified": .bool, "phoneNumber": .string, "phoneNumberVerified": .bool,
    ]

    var id: String
    /// The user's fields, except the password.
    var attributes: JSONValue
    /// `nil` for a user without a password. Stored in plain text, since the state belongs to one developer and its
    /// directory has mode 0700.
    var password: Secret?
    /// Whether the user can neither log in nor use their tokens.
    var isDisabled = false

    var key: String { self.id }

    var json: JSONValue {
        .object(present: [
            "id": self.id, "attributes": self.attributes, "password": self.password?.reveal(),
            "disabled": self.isDisabled,
        ])
    }

    var description: JSONMembers {
        let own: JSONMembers = [
            ("_hasPassword", JSONValue(self.password != nil)), ("_disabled", JSONValue(self.isDisabled)),
        ]
        return [("userID", JSONValue(self.id))] + self.attributes.pairs + self.verifications + own
    }

    /// Each address counts as verified, since Kii's SDK for Unity logs in only with verified addresses.
    private var verifications: JSONMembers {
        ["emailAddress", "phoneNumber"].filter { self.attributes.present($0) != nil }
            .map { ("\($0)Verified", JSONValue(true)) }
    }

    var publicDescription: JSONMembers {
        JSONMembers(present: [
            "userID": self.id, "loginName": self.attributes.present("loginName"),
            "displayName": self.attributes.present("displayName"),
        ])
    }

    /// The login name; without one, the address after `EMAIL:` or `PHONE:`.
    var address: String? {
        if let name = self.attributes["loginName"]?.string { return name }
        if let address = self.attributes["emailAddress"]?.string { return "EMAIL:\(address)" }
        return self.attributes["phoneNumber"]?.string.map { "PHONE:\($0)" }
    }
}

extension UserRecord {
    init?(json: JSONValue) {
        guard let id = json["id"]?.string, let attributes = json["attributes"] else { return nil }
        self.init(
            id: id, attributes: attributes, password: json.secret("password"),
            isDisabled: json["disabled"]?.bool ?? false)
    }
}

struct GroupRecord: StoredRecord {
    static let table = "group"

    var id: String
    var name: String
    /// The owner's user ID, even after the user was deleted. `nil` if the administrator created the group without an
    /// owner.
    var owner: String?
    /// User IDs. A new owner becomes a member, but may leave the members later.
    var members: Set<String>

    var key: String { self.id }

    var json: JSONValue {
        .object(present: [
            "id": self.id, "name": self.name, "owner": self.owner, "members": self.members.sorted(),
        ])
    }

    var description: JSONMembers {
        JSONMembers(present: ["groupID": self.id, "name": self.name, "owner": self.owner])
    }
}

extension GroupRecord {
    init?(json: JSONValue) {
        guard let id = json["id"]?.string, let name = json["name"]?.string, let members = json.texts("members") else {
            return nil
        }
        self.init(id: id, name: name, owner: json["owner"]?.string, members: members)
    }
}
