/// Where a resource lives below an app's root in the REST API, one segment at a time.
///
/// A segment that holds an ID is percent-encoded whole, so whatever the ID contains stays within its segment.
package struct KiiPath: Sendable {
    private enum Segment: Sendable {
        case literal(String)
        case value(String, KiiInputError.Field)
    }

    private var segments: [Segment]

    /// Of segments that are part of the API, such as `topics`.
    package init(_ names: String...) { self.segments = names.map { .literal($0) } }

    /// Adds segments that are part of the API.
    package func appending(_ names: String...) -> KiiPath { self.appending(segments: names.map { .literal($0) }) }

    /// Adds a segment that holds a value, such as a topic's ID.
    package func appending(_ value: String, as field: KiiInputError.Field) -> KiiPath {
        self.appending(segments: [.value(value, field)])
    }

    /// Adds a segment that is a prefix and a value, such as `EMAIL:` and an address.
    func appending(_ kind: String, _ value: String, as field: KiiInputError.Field) throws(KiiInputError) -> KiiPath {
        try KiiInputError.refuseEmpty(value, field)
        return self.appending(kind + value, as: field)
    }

    func appending(_ path: KiiPath) -> KiiPath { self.appending(segments: path.segments) }

    private func appending(segments: [Segment]) -> KiiPath {
        var path = self
        path.segments += segments
        return path
    }

    /// The path as it is written in a URL, such as `/apps/1a2b/topics/news`.
    ///
    /// - Throws: ``KiiInputError`` for an empty value, or for `.` and `..`, which every URL parser takes for a step
    ///   between segments even when they are percent-encoded (RFC 3986 section 5.2.4).
    func encoded() throws(KiiInputError) -> String {
        var path = ""
        for segment in self.segments {
            switch segment {
            case .literal(let name): path += "/" + name
            case .value(let value, let field):
                guard !value.isEmpty, value != ".", value != ".." else {
                    throw KiiInputError(field, rule: "neither empty nor . nor ..")
                }
                path += "/" + value.percentEncoded
            }
        }
        return path
    }
}

extension KiiApp {
    /// `/apps/{appID}`.
    var path: KiiPath { KiiPath("apps").appending(self.appID, as: .appID) }
}

extension Scope {
    /// What stands between the app and its topics and buckets.
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
    /// `users/{userID}` or `things/{thingID}`.
    var path: KiiPath {
        switch self {
        case .user(let id): Scope.user(id).path
        case .thing(let id): Scope.thing(id).path
        }
    }
}

extension Topic {
    var path: KiiPath { self.scope.path.appending("topics").appending(self.id, as: .topicID) }
}

extension Bucket {
    var path: KiiPath { self.scope.path.appending("buckets").appending(self.id, as: .bucketID) }
}

extension String {
    /// The UTF-8 bytes with everything but RFC 3986's unreserved characters and `:` written as `%XX`.
    ///
    /// A colon is legal in a segment (section 3.3), and Kii writes it in `VENDOR_THING_ID:…` and `MQTT:…`.
    var percentEncoded: String { self.percentEncoded(but: "-._~:") }
}
