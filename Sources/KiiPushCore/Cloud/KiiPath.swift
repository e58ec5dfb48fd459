/// A resource's path below an app's root in the REST API, built from segments. It percent-encodes a segment with an ID
/// as a whole, so that no character of the ID can leave the segment.
package struct KiiPath: Sendable {
    private var text: String
    /// The error for the first value that no path can contain.
    private var flaw: KiiInputError?

    /// Makes a path of fixed segments of the API, such as `topics`.
    package init(_ names: String...) { self.text = names.map { "/" + $0 }.joined() }

    package func appending(_ names: String...) -> KiiPath { self.appending(names.map { "/" + $0 }.joined(), nil) }

    /// Appends a segment with a value, such as a topic's ID.
    package func appending(_ value: String, as field: KiiInputError.Field) -> KiiPath {
        let isUsable = !value.isEmpty && value != "." && value != ".."
        let flaw = isUsable ? nil : KiiInputError(field, rule: "neither empty nor . nor ..")
        return self.appending("/" + value.percentEncoded, flaw)
    }

    /// Appends a segment with a prefix and a value, such as `EMAIL:` and an address.
    func appending(_ kind: String, _ value: String, as field: KiiInputError.Field) throws(KiiInputError) -> KiiPath {
        try KiiInputError.refuseEmpty(value, field)
        return self.appending(kind + value, as: field)
    }

    func appending(_ path: KiiPath) -> KiiPath { self.appending(path.text, path.flaw) }

    private func appending(_ text: String, _ flaw: KiiInputError?) -> KiiPath {
        var path = self
        path.text += text
        path.flaw = self.flaw ?? flaw
        return path
    }

    /// The path as a URL contains it, such as `/apps/1a2b/topics/news`.
    ///
    /// - Throws: ``KiiInputError`` for an empty value, and for `.` and `..`. Every URL parser treats those two as steps
    ///   between segments, even when percent-encoded (RFC 3986 section 5.2.4).
    func encoded() throws(KiiInputError) -> String {
        if let flaw = self.flaw { throw flaw }
        return self.text
    }
}

extension KiiApp {
    var path: KiiPath { KiiPath("apps").appending(self.appID, as: .appID) }
}

extension Scope {
    /// The path between the app and its topics and buckets.
    var path: KiiPath {
        switch self {
        case .app: KiiPath()
        case .user(let id): KiiPath("users").appending(id, as: .userID)
        case .group(let id): KiiPath("groups").appending(id, as: .groupID)
        case .thing(let id): KiiPath("things").appending(id, as: .thingID)
        }
    }
}

extension Principal {
    var path: KiiPath {
        switch self {
        case .user(let id): Scope.user(id).path
        case .thing(let id): Scope.thing(id).path
        }
    }
}

extension Topic {
    func path() throws(KiiInputError) -> KiiPath {
        guard Topic.isValidID(self.id) else { throw KiiInputError(.topicID, rule: "1 to 64 of A-Z a-z 0-9 _ -") }
        return self.scope.path.appending("topics").appending(self.id, as: .topicID)
    }
}

extension Bucket {
    var path: KiiPath { self.scope.path.appending("buckets").appending(self.id, as: .bucketID) }
}

extension String {
    /// Percent-encodes everything except RFC 3986's unreserved characters and `:`. A colon is legal in a segment
    /// (section 3.3), and Kii writes it in `VENDOR_THING_ID:…` and `MQTT:…`.
    var percentEncoded: String { self.percentEncoded(but: "-._~:") }
}
