/// Where a resource lives below the root of the REST API, one segment at a time.
///
/// A segment that holds an ID is percent-encoded whole, so whatever the ID contains stays within its segment.
public struct KiiPath: Sendable, Hashable {
    private enum Segment: Sendable, Hashable {
        case literal(String)
        case value(String, KiiInputError.Field)
    }

    private var segments: [Segment]

    /// The root of the REST API itself.
    public static let root = KiiPath(segments: [])

    private init(segments: [Segment]) {
        self.segments = segments
    }

    /// `/apps/{appID}`.
    public static func app(_ app: KiiApp) -> KiiPath {
        .root.appending("apps").appending(app.appID, as: .appID)
    }

    /// Adds segments that are part of the API, such as `topics`.
    public func appending(_ names: String...) -> KiiPath {
        KiiPath(segments: self.segments + names.map { .literal($0) })
    }

    /// Adds a segment that holds a value, such as a topic's ID.
    public func appending(_ value: String, as field: KiiInputError.Field) -> KiiPath {
        KiiPath(segments: self.segments + [.value(value, field)])
    }

    /// The path as it is written in a URL, such as `/apps/1a2b/topics/news`.
    ///
    /// - Throws: ``KiiInputError`` for an empty value, or for `.` and `..`, which every URL parser takes for a step
    ///   between segments even when they are percent-encoded (RFC 3986 section 5.2.4).
    public func encoded() throws(KiiInputError) -> String {
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

extension KiiPath {
    /// Adds what a scope puts between the app and its topics and buckets.
    public func appending(_ scope: Scope) -> KiiPath {
        switch scope {
        case .app: self
        case .user(let id): self.appending("users").appending(id, as: .userID)
        case .group(let id): self.appending("groups").appending(id, as: .groupID)
        case .thing(let id): self.appending("things").appending(id, as: .thingID)
        }
    }

    /// Adds `users/{userID}` or `things/{thingID}`.
    public func appending(_ principal: Principal) -> KiiPath {
        switch principal {
        case .user(let id): self.appending(Scope.user(id))
        case .thing(let id): self.appending(Scope.thing(id))
        }
    }

    /// Adds a topic with its scope.
    public func appending(_ topic: Topic) -> KiiPath {
        self.appending(topic.scope).appending("topics").appending(topic.id, as: .topicID)
    }

    /// Adds a bucket with its scope.
    public func appending(_ bucket: Bucket) -> KiiPath {
        self.appending(bucket.scope).appending("buckets").appending(bucket.id, as: .bucketID)
    }
}

extension String {
    /// The UTF-8 bytes with everything but RFC 3986's unreserved characters and `:` written as `%XX`.
    ///
    /// A colon is legal in a segment (section 3.3), and Kii writes it in `VENDOR_THING_ID:…` and `MQTT:…`.
    var percentEncoded: String {
        var encoded = ""
        for byte in self.utf8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"), UInt8(ascii: ":"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                encoded += byte < 16 ? "%0" : "%"
                encoded += String(byte, radix: 16, uppercase: true)
            }
        }
        return encoded
    }
}
