import KiiPushCore

/// The fields of a user or thing: the ones Kii knows, by type, and the app's own.
enum Attributes {
    /// What all of the app's own fields may take together, names and values.
    static let maximumCustomBytes = 63 * 1024

    /// The members of a registration that are kept.
    ///
    /// Kii ignores and does not store unknown fields whose name starts with an underscore.
    ///
    /// - Parameters:
    ///   - known: the fields that Kii knows, and what they hold.
    ///   - others: fields that are kept elsewhere, or not at all.
    static func checked(
        _ body: JSONValue, known: [String: JSONValue.Kind], leavingOut others: Set<String>
    ) throws(KiiFailure) -> [(String, JSONValue)] {
        var kept: [(String, JSONValue)] = []
        var customBytes = 0
        for member in body.members ?? [] where !others.contains(member.key) {
            if let kind = known[member.key] {
                guard member.value.isNull || member.value.kind == kind else {
                    throw .invalidInput("\(member.key) has to be \(Attributes.name(of: kind)).")
                }
            } else {
                guard !member.key.hasPrefix("_") else { continue }
                customBytes += member.key.utf8.count + member.value.serialized().count
            }
            kept.append((member.key, member.value))
        }
        guard customBytes <= Attributes.maximumCustomBytes else {
            throw .invalidInput("The custom fields take more than \(Attributes.maximumCustomBytes) bytes.")
        }
        return kept
    }

    private static func name(of kind: JSONValue.Kind) -> String {
        switch kind {
        case .null: "null"
        case .bool: "true or false"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

extension UserRecord {
    /// What is kept of a registration.
    static func attributes(_ body: JSONValue) throws(KiiFailure) -> JSONValue {
        let texts = ["loginName", "displayName", "country", "locale", "emailAddress", "phoneNumber"]
        var known = Dictionary(uniqueKeysWithValues: texts.map { ($0, JSONValue.Kind.string) })
        known["phoneNumberVerified"] = .bool
        if let country = body["country"]?.string, !Names.isCountry(country) {
            throw .invalidInput("country has to be two letters, such as JP.")
        }
        // The ID is the cloud's to choose: a field of that name would stand in its place in every answer.
        return .object(try Attributes.checked(body, known: known, leavingOut: ["password", "userID"]))
    }
}

extension ThingRecord {
    /// What is kept of a registration.
    static func attributes(_ body: JSONValue) throws(KiiFailure) -> [(String, JSONValue)] {
        let texts = [
            "_vendorThingID", "_thingType", "_layoutPosition", "_vendor", "_firmwareVersion", "_productName", "_lot",
        ]
        var known = Dictionary(uniqueKeysWithValues: texts.map { ($0, JSONValue.Kind.string) })
        for number in 1...5 {
            known["_stringField\(number)"] = .string
            known["_numberField\(number)"] = .number
        }
        return try Attributes.checked(body, known: known, leavingOut: ["_password"])
    }
}
