/// A path in the REST API. Each value is percent-encoded, so that an ID cannot begin another segment.
package struct KiiPath: Sendable {
    private var text: String
    private var flaw: KiiInputError?

    package init(_ names: String...) { self.text = names.map { "/" + $0 }.joined() }

    package func appending(_ names: String...) -> KiiPath { self.appending(names.map { "/" + $0 }.joined(), nil) }

    package func appending(_ value: String, as field: KiiInputError.Field) -> KiiPath {
        let isUsable = !value.isEmpty && value != "." && value != ".."
        let flaw = isUsable ? nil : KiiInputError(field, rule: "neither empty nor . nor ..")
        return self.appending("/" + value.percentEncoded, flaw)
    }

    func appending(_ kind: String, _ value: String, as field: KiiInputError.Field) throws(KiiInputError) -> KiiPath {
        try KiiInputError.require(value, field)
        return self.appending(kind + value, as: field)
    }

    func appending(_ path: KiiPath) -> KiiPath { self.appending(path.text, path.flaw) }

    private func appending(_ text: String, _ flaw: KiiInputError?) -> KiiPath {
        var path = self
        path.text += text
        path.flaw = self.flaw ?? flaw
        return path
    }

    /// Throws for an empty segment, `.` and `..`. URL parsers resolve `.` and `..` even if these are percent-encoded
    /// (RFC 3986 section 5.2.4).
    func encoded() throws(KiiInputError) -> String {
        if let flaw = self.flaw { throw flaw }
        return self.text
    }
}

extension KiiApp {
    var path: KiiPath { KiiPath("apps").appending(self.appID, as: .appID) }
}

extension Scope {
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
    /// Keeps `:`, which is legal in a segment (RFC 3986 section 3.3). Kii writes a colon in `VENDOR_THING_ID:…` and
    /// `MQTT:…`.
    var percentEncoded: String { self.percentEncoded(but: "-._~:") }
}
