import KiiPushCore

enum Attributes {
    /// The size limit of the app's own fields together, names and values.
    static let maximumCustomBytes = 63 * 1024

    /// Kii ignores unknown fields with an initial underscore.
    static func checked(
        _ body: JSONValue, known: [String: JSONValue.Kind], leavingOut others: Set<String>
    ) throws(KiiFailure) -> JSONMembers {
        var kept: JSONMembers = []
        var customBytes = 0
        for (name, value) in body.pairs where !others.contains(name) {
            if let kind = known[name] {
                guard value.isNull || value.kind == kind else {
                    throw .invalidInput("\(name) has to be \(kind.phrase).")
                }
            } else {
                guard !name.hasPrefix("_") else { continue }
                customBytes += name.utf8.count + value.serialized().count
            }
            kept.append((name, value))
        }
        guard customBytes <= Attributes.maximumCustomBytes else {
            throw .invalidInput("The custom fields take more than \(Attributes.maximumCustomBytes) bytes.")
        }
        return kept
    }
}

extension UserRecord {
    static func attributes(_ body: JSONValue) throws(KiiFailure) -> JSONMembers {
        if let country = body["country"]?.string, !Names.isCountry(country) {
            throw .invalidInput("country has to be two letters, such as JP.")
        }
        // The cloud chooses the user ID. A stored field with this name would replace the ID in every answer.
        return try Attributes.checked(body, known: UserRecord.known, leavingOut: ["password", "userID"])
            .filter { UserRecord.known[$0.0] != .bool }
    }
}

extension ThingRecord {
    static func attributes(_ body: JSONValue) throws(KiiFailure) -> JSONMembers {
        var known: [String: JSONValue.Kind] = [
            "_vendorThingID": .string, "_thingType": .string, "_layoutPosition": .string, "_vendor": .string,
            "_firmwareVersion": .string, "_productName": .string, "_lot": .string,
        ]
        for number in 1...5 {
            known["_stringField\(number)"] = .string
            known["_numberField\(number)"] = .number
        }
        return try Attributes.checked(body, known: known, leavingOut: ["_password"])
    }
}
