/// A value that was refused before anything was sent.
///
/// The value itself is never part of it. Sending the same call again fails again.
public struct KiiInputError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What the refused value was meant for.
    public struct Field: RawRepresentable, Sendable, Hashable {
        /// The name as Kii spells it where Kii has one, such as `topicID`.
        public var rawValue: String

        /// Names a field.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }
    }

    /// What the refused value was meant for.
    public var field: Field
    /// Where in the body the value stands, when it is part of a message or an object's fields.
    public var pointer: JSONPointer?
    /// What would be accepted, as a noun phrase such as `1 to 64 of A-Z a-z 0-9 _ -`.
    public var rule: String

    /// Makes an error.
    public init(_ field: Field, at pointer: JSONPointer? = nil, rule: String) {
        self.field = field
        self.pointer = pointer
        self.rule = rule
    }

    /// One line: which value was refused and what would be accepted.
    public var description: String {
        let place = self.pointer.map { $0.tokens.isEmpty ? "" : " at \($0.abbreviated)" } ?? ""
        return "\(self.field.rawValue)\(place) cannot be used: it must be \(self.rule)"
    }
}

extension KiiInputError.Field {
    /// ``KiiApp/appID``.
    public static let appID = Self(rawValue: "appID")
    /// ``KiiApp/appKey``.
    public static let appKey = Self(rawValue: "appKey")
    /// ``KiiApp/baseURL``.
    public static let baseURL = Self(rawValue: "baseURL")
    /// ``KiiApp/thingIFBaseURL``.
    public static let thingIFBaseURL = Self(rawValue: "thingIFBaseURL")
    /// The media type of a body.
    public static let mediaType = Self(rawValue: "Content-Type")
    /// The access token of a call that needs one.
    public static let token = Self(rawValue: "token")
    /// A user's ID in a path.
    public static let userID = Self(rawValue: "userID")
    /// A group's ID in a path.
    public static let groupID = Self(rawValue: "groupID")
    /// A thing's ID in a path.
    public static let thingID = Self(rawValue: "thingID")
    /// A topic's ID.
    public static let topicID = Self(rawValue: "topicID")
    /// A verb of an access control list.
    public static let topicVerb = Self(rawValue: "verb")
    /// A subject of an access control list.
    public static let accessSubject = Self(rawValue: "subject")
    /// A bucket's ID.
    public static let bucketID = Self(rawValue: "bucketID")
    /// An object's ID.
    public static let objectID = Self(rawValue: "objectID")
    /// An object's or a registration's own fields.
    public static let fields = Self(rawValue: "fields")
    /// An installation's ID.
    public static let installationID = Self(rawValue: "installationID")
    /// The network's own ID of an installation.
    public static let installationRegistrationID = Self(rawValue: "installationRegistrationID")
    /// A user's login name.
    public static let loginName = Self(rawValue: "loginName")
    /// The name that signs in.
    public static let username = Self(rawValue: "username")
    /// A password.
    public static let password = Self(rawValue: "password")
    /// The ID that a vendor gave a thing.
    public static let vendorThingID = Self(rawValue: "vendorThingID")
    /// The further fields of a thing that is onboarded.
    public static let thingProperties = Self(rawValue: "thingProperties")
    /// The ID of an app administrator.
    public static let clientID = Self(rawValue: "client_id")
    /// The secret of an app administrator.
    public static let clientSecret = Self(rawValue: "client_secret")
    /// A refresh token.
    public static let refreshToken = Self(rawValue: "refresh_token")
    /// A message that is to be sent.
    public static let message = Self(rawValue: "message")
}
