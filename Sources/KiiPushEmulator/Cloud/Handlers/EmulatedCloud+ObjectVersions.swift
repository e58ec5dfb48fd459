import KiiPushCore

/// Conditions on the version of an object: `If-Match` names the one that is to be changed or deleted.
extension EmulatedCloud {
    /// Refuses to touch another version than the one that is named, if one is.
    ///
    /// The guide writes the number, clients send the entity tag back that they got, in quotes.
    /// - Source: Kii's reference, object resource; the statuses also from a live test of ebisu.
    func requireVersion(of record: ObjectRecord, _ call: CloudCall) throws(KiiFailure) {
        guard let condition = call.field("If-Match") else { return }
        guard call.field("If-None-Match") == nil else {
            throw .invalidInput("If-Match and If-None-Match exclude each other.")
        }
        guard condition.filter({ $0 != "\"" && !$0.isWhitespace }) == "\(record.version)" else {
            throw .objectVersionIsStale(record.object, app: self.appID)
        }
    }
}

extension ObjectRecord {
    /// The version, as every answer about an object carries it.
    var entityTag: HTTPField { HTTPField("ETag", "\"\(self.version)\"") }
}
