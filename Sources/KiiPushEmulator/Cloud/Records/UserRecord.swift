import KiiPushCore

struct UserRecord: StoredRecord {
    static let table = "user"
    /// The fields that name a user; each is unique among the app's users.
    static let names = ["loginName", "emailAddress", "phoneNumber"]
    /// Kii's fields, by type. The cloud itself sets which address is verified, and checks only the type of a client's
    /// value for it.
    static let known: [String: JSONValue.Kind] = [
        "loginName": .string, "displayName": .string, "country": .string, "locale": .string, "emailAddress": .string,
        "emailAddressVerified": .bool, "phoneNumber": .string, "phoneNumberVerified": .bool,
    ]

    var id: String
    /// All fields of the registration, except the password: Kii's and the app's own.
    var attributes: JSONValue
    /// `nil` for a pseudo user. The password is in plain text: the state belongs to one developer, in a directory of
    /// mode 0700.
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

    /// The members of the body of `GET /users/{userID}` and of a registration's answer.
    var description: JSONMembers {
        let own: JSONMembers = [
            ("_hasPassword", JSONValue(self.password != nil)), ("_disabled", JSONValue(self.isDisabled)),
        ]
        return [("userID", JSONValue(self.id))] + self.attributes.pairs + self.verifications + own
    }

    /// Each address counts as verified at once: the app requires no verification. Kii's SDK for Unity signs in only
    /// with verified addresses.
    private var verifications: JSONMembers {
        ["emailAddress", "phoneNumber"].filter { self.attributes.present($0) != nil }
            .map { ("\($0)Verified", JSONValue(true)) }
    }

    /// The members that callers other than the user and the administrator see.
    var publicDescription: JSONMembers {
        JSONMembers(present: [
            "userID": self.id, "loginName": self.attributes.present("loginName"),
            "displayName": self.attributes.present("displayName"),
        ])
    }

    /// The user's name for a login, with the prefix of its kind; `nil` without any name.
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
    /// A user's ID, even after that user's deletion; `nil` for a group that an administrator created without an owner.
    var owner: String?
    /// User IDs. A new owner becomes a member, and may leave.
    var members: Set<String>

    var key: String { self.id }

    var json: JSONValue {
        .object(present: [
            "id": self.id, "name": self.name, "owner": self.owner, "members": self.members.sorted(),
        ])
    }

    /// The members of the body of `GET /groups/{groupID}` and of each group in a list.
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
