/// A value that was refused before anything was sent.
///
/// The value itself is never part of it. Sending the same call again fails again.
public struct KiiInputError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What the refused value was meant for. The raw value is the name as Kii spells it where Kii has one.
    package enum Field: String, Sendable, Hashable {
        case appID, appKey, baseURL, thingIFBaseURL
        case mediaType = "Content-Type"
        case token
        /// IDs in a path.
        case userID, groupID, thingID, topicID, bucketID, objectID, installationID, commandID
        /// Of an access control list.
        case accessSubject = "subject"
        /// An object's or a registration's own fields.
        case fields
        /// The network's own ID of an installation.
        case installationRegistrationID
        case loginName
        /// The name that signs in.
        case username
        case password, vendorThingID
        /// The further fields of a thing that is onboarded.
        case thingProperties
        /// What a thing reports of a command.
        case actionResults
        /// Of an app administrator.
        case clientID = "client_id"
        case clientSecret = "client_secret"
        case refreshToken = "refresh_token"
        /// A message that is to be sent.
        case message
        /// The ID of a message that was sent.
        case pushMessageID
    }

    /// What the refused value was meant for.
    package var field: Field
    /// Where in the body the value stands, when it is part of a message or an object's fields.
    package var pointer: JSONPointer?
    /// What would be accepted, as a noun phrase such as `1 to 64 of A-Z a-z 0-9 _ -`.
    package var rule: String

    package init(_ field: Field, at pointer: JSONPointer? = nil, rule: String) {
        (self.field, self.pointer, self.rule) = (field, pointer, rule)
    }

    /// Refuses an empty text.
    static func refuseEmpty(_ text: String, _ field: Field, rule: String = "not empty") throws(KiiInputError) {
        if text.isEmpty { throw KiiInputError(field, rule: rule) }
    }

    /// Refuses an empty text for a value that is required.
    static func require(_ text: String, _ field: Field) throws(KiiInputError) {
        try self.refuseEmpty(text, field, rule: "present and not empty")
    }

    /// One line: which value was refused and what would be accepted.
    public var description: String {
        let place = self.pointer.map { $0.tokens.isEmpty ? "" : " at \($0.abbreviated)" } ?? ""
        return "\(self.field.rawValue)\(place) cannot be used: it must be \(self.rule)"
    }
}

extension String {
    /// Refuses a text with a character outside `A-Z a-z 0-9 - _ .` or a length outside `lengths`.
    func requireKiiName(_ lengths: ClosedRange<Int>, _ field: KiiInputError.Field) throws(KiiInputError) {
        guard lengths.contains(self.utf8.count), self.utf8.allSatisfy(\.isKiiNameByte) else {
            throw KiiInputError(field, rule: "\(lengths.lowerBound) to \(lengths.upperBound) of A-Z a-z 0-9 - _ .")
        }
    }
}

extension JSONValue {
    /// Refuses fields that are no object, or that have a key which is not the caller's to set.
    func requireObject(without isReserved: (String) -> Bool, rule: String) throws(KiiInputError) {
        guard let members = self.members else { throw KiiInputError(.fields, at: JSONPointer(), rule: "a JSON object") }
        for member in members where isReserved(member.key) {
            throw KiiInputError(.fields, at: JSONPointer(tokens: [member.key]), rule: rule)
        }
    }
}
