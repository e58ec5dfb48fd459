/// A user to register.
public struct UserRegistration: Sendable, Hashable {
    package var loginName: String?
    package var emailAddress: String?
    package var phoneNumber: String?
    package var password: Secret
    package var profile: UserProfile

    /// Describes a user, who needs a login name, an e-mail address or a phone number.
    ///
    /// A login name has 3 to 64 of `A-Z a-z 0-9 - _ .`, a password 4 to 50 printable ASCII characters. An international
    /// phone number starts with `+`.
    public init(
        loginName: String? = nil, emailAddress: String? = nil, phoneNumber: String? = nil, password: Secret,
        profile: UserProfile = UserProfile()
    ) {
        self.loginName = loginName
        self.emailAddress = emailAddress
        self.phoneNumber = phoneNumber
        self.password = password
        self.profile = profile
    }

    func validate() throws(KiiInputError) {
        guard self.loginName != nil || self.emailAddress != nil || self.phoneNumber != nil else {
            throw KiiInputError(.loginName, rule: "present when there is neither an e-mail address nor a phone number")
        }
        try self.loginName?.requireKiiName(3...64, .loginName)
        try Self.validate(password: self.password)
        try self.profile.validate()
    }

    static func validate(password: Secret) throws(KiiInputError) {
        let bytes = password.reveal().utf8
        guard (4...50).contains(bytes.count), bytes.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw KiiInputError(.password, rule: "4 to 50 printable ASCII characters")
        }
    }

    var fields: JSONMembers {
        let named = JSONMembers(present: [
            "loginName": self.loginName, "emailAddress": self.emailAddress, "phoneNumber": self.phoneNumber,
            "password": self.password.reveal(),
        ])
        return named + self.profile.fields
    }
}

/// An app's data about a user.
public struct UserProfile: Sendable, Hashable {
    /// The name that people see.
    public var displayName: String?
    /// The country, ISO 3166-1 alpha-2, such as `JP`.
    public var country: String?
    /// The language, such as `en_US`.
    public var locale: String?
    /// The app's own fields: a JSON object without Kii's keys, such as `userID` and all that start with `_`. Default:
    /// none.
    public var customFields: JSONValue

    /// Describes a user.
    public init(
        displayName: String? = nil, country: String? = nil, locale: String? = nil, customFields: JSONValue = [:]
    ) {
        self.displayName = displayName
        self.country = country
        self.locale = locale
        self.customFields = customFields
    }

    private static let reservedNames: Set<String> = [
        "loginName", "emailAddress", "emailAddressVerified", "phoneNumber", "phoneNumberVerified", "password",
        "displayName", "country", "locale", "userID", "internalUserID",
    ]

    static func isReserved(_ name: String) -> Bool { name.hasPrefix("_") || Self.reservedNames.contains(name) }

    init(_ fields: KiiFields) throws(KiiResponseError) {
        self.displayName = try fields.optionalString("displayName")
        self.country = try fields.optionalString("country")
        self.locale = try fields.optionalString("locale")
        self.customFields = fields.members(except: Self.isReserved)
    }

    func validate() throws(KiiInputError) {
        try self.customFields.requireObject(
            without: Self.isReserved, rule: "under a key that Kii does not use itself")
    }

    var fields: JSONMembers {
        JSONMembers(present: ["displayName": self.displayName, "country": self.country, "locale": self.locale])
            + self.customFields.pairs
    }
}
