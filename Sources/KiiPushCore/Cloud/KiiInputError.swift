/// The error for a value that the library refuses before it sends anything.
///
/// The error contains no value, but may name a JSON key. A repetition with the same value fails again.
public struct KiiInputError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Field: String, Sendable, Hashable {
        case appID, appKey, baseURL, thingIFBaseURL
        case mediaType = "Content-Type"
        case token
        case userID, groupID, thingID, topicID, bucketID, objectID, installationID, commandID
        case accessSubject = "subject"
        case fields
        case installationRegistrationID
        case loginName
        case username
        case password, vendorThingID
        case thingProperties
        case actionResults
        case clientID = "client_id"
        case clientSecret = "client_secret"
        case refreshToken = "refresh_token"
        case message
        case pushMessageID
    }

    package var field: Field
    package var pointer: JSONPointer?
    /// The words after "it must be", such as `1 to 64 of A-Z a-z 0-9 _ -`.
    package var rule: String

    package init(_ field: Field, at pointer: JSONPointer? = nil, rule: String) {
        (self.field, self.pointer, self.rule) = (field, pointer, rule)
    }

    static func require(_ text: String, _ field: Field) throws(KiiInputError) {
        if text.isEmpty { throw KiiInputError(field, rule: "present and not empty") }
    }

    /// One line: the name of the refused value, and the rule.
    public var description: String {
        let place = self.pointer.map { $0.tokens.isEmpty ? "" : " at \($0.abbreviated)" } ?? ""
        return "\(self.field.rawValue)\(place) cannot be used: it must be \(self.rule)"
    }
}

extension String {
    func requireKiiName(_ lengths: ClosedRange<Int>, _ field: KiiInputError.Field) throws(KiiInputError) {
        guard lengths.contains(self.utf8.count), self.utf8.allSatisfy(\.isKiiNameByte) else {
            throw KiiInputError(field, rule: "\(lengths.lowerBound) to \(lengths.upperBound) of A-Z a-z 0-9 - _ .")
        }
    }
}

extension JSONValue {
    func requireObject(without isReserved: (String) -> Bool, rule: String) throws(KiiInputError) {
        guard let members = self.members else { throw KiiInputError(.fields, at: JSONPointer(), rule: "a JSON object") }
        for member in members where isReserved(member.key) {
            throw KiiInputError(.fields, at: JSONPointer(tokens: [member.key]), rule: rule)
        }
    }
}
