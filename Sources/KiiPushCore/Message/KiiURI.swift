/// A `kiicloud://` address: the source or the sender of a push over MQTT.
///
/// Addresses percent-encode IDs (RFC 3986 section 2.1); this type holds the decoded IDs.
///
/// - Source: the `sourceURI` and `senderURI` of Kii's guides, such as `kiicloud://users/{userID}/topics/{topicID}`.
public enum KiiURI: Sendable, Hashable, CustomStringConvertible {
    /// A user, group or thing. The app itself has no address.
    case owner(Scope)
    /// A topic.
    case topic(Topic)
    /// A bucket.
    case bucket(Bucket)
    /// An object.
    case object(ObjectReference)
    /// An administrator, by name. Kii has one, `APP_ADMIN`.
    case administrator(String)
    /// An address of an unknown form, verbatim.
    case other(String)

    private static let scheme = "kiicloud://"

    package init(_ text: String) { self = KiiURI(known: text) ?? .other(text) }

    private init?(known text: String) {
        guard text.utf8.starts(with: KiiURI.scheme.utf8) else { return nil }
        let path = text.utf8.dropFirst(KiiURI.scheme.utf8.count)
        var steps: [String] = []
        for part in path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard let step = KiiURI.percentDecoded(part), !step.isEmpty else { return nil }
            steps.append(step)
        }
        if steps.count == 2, steps[0] == "admins" {
            self = .administrator(steps[1])
            return
        }
        var scope = Scope.app
        switch (steps.first, steps.dropFirst().first) {
        case ("users", let id?): scope = .user(id)
        case ("groups", let id?): scope = .group(id)
        case ("things", let id?): scope = .thing(id)
        default: break
        }
        if scope != .app { steps.removeFirst(2) }
        switch (steps.count, steps.first) {
        case (0, _) where scope != .app: self = .owner(scope)
        case (2, "topics"): self = .topic(Topic(steps[1], in: scope))
        case (2, "buckets"): self = .bucket(Bucket(steps[1], in: scope))
        case (4, "buckets") where steps[2] == "objects":
            self = .object(ObjectReference(steps[3], in: Bucket(steps[1], in: scope)))
        default: return nil
        }
    }

    /// The address as text. Percent-encodes all bytes of an ID except letters, digits and `-._~`. ``other(_:)`` is
    /// verbatim.
    public var description: String {
        let steps: [String]
        switch self {
        case .owner(let scope): steps = KiiURI.steps(scope)
        case .topic(let topic): steps = KiiURI.steps(topic.scope) + ["topics", topic.id]
        case .bucket(let bucket): steps = KiiURI.steps(bucket)
        case .object(let object): steps = KiiURI.steps(object.bucket) + ["objects", object.id]
        case .administrator(let name): steps = ["admins", name]
        case .other(let text): return text
        }
        return KiiURI.scheme + steps.map { $0.percentEncoded(but: "-._~") }.joined(separator: "/")
    }

    private static func steps(_ bucket: Bucket) -> [String] { KiiURI.steps(bucket.scope) + ["buckets", bucket.id] }

    private static func steps(_ scope: Scope) -> [String] {
        switch scope {
        case .app: []
        case .user(let id): ["users", id]
        case .group(let id): ["groups", id]
        case .thing(let id): ["things", id]
        }
    }

    private static func percentDecoded(_ part: Substring.UTF8View) -> String? {
        var bytes: [UInt8] = []
        var rest = part.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.next().flatMap(hexadecimalValue), let low = rest.next().flatMap(hexadecimalValue)
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
