import KiiPushCore

/// Everything that can be said about one payload without asking a network.
struct PayloadExplanation {
    /// How the payload's keys are spelt.
    enum Keys: String, CaseIterable, ExpressibleByArgument {
        case auto
        case short
        case long
    }

    /// One key of the payload with what it stands for.
    struct Member {
        let pointer: JSONPointer
        /// Kii's name of the field, or the key below `aps`.
        let name: String
        /// `nil` for a key that is not there, and means something by that.
        let value: JSONValue?
        let meaning: KeyMeaning
        /// What this value tells, beyond what is written; `nil` where there is nothing to add.
        let reading: String?
    }

    /// A place with what is to be said about it.
    struct Remark {
        let pointer: JSONPointer
        let value: JSONValue?
        let why: String
    }

    /// The message as a receiver sees it.
    let message: ReceivedMessage
    /// The payload as it is.
    let payload: JSONValue
    let size: Int
    /// Why the payload is read with the keys that it is read with.
    let keysReason: String
    let fields: [Member]
    let aps: [Member]
    let custom: [Remark]
    let ignored: [Remark]
    let findings: [LintFinding]

    /// - Throws: `MessageError` for a payload that receivers refuse.
    init(_ bytes: [UInt8], keys: Keys) throws(MessageError) {
        self.message =
            switch keys {
            case .auto: try ReceivedMessage(payload: bytes)
            case .short: try ReceivedMessage(fromAPNS: bytes)
            case .long: try ReceivedMessage(mqttPayload: bytes)
            }
        self.payload = self.message.rawPayload
        self.size = self.payload.documentBytes.count
        self.keysReason = Self.keysReason(keys, self.payload)
        let listing = MemberListing(self.message, payload: self.payload)
        self.fields = listing.fields
        self.aps = listing.aps
        self.custom = listing.custom
        self.ignored = listing.ignored
        self.findings = Self.findings(self.message, self.payload, size: self.size)
    }

    private static func keysReason(_ keys: Keys, _ payload: JSONValue) -> String {
        switch (keys, payload["aps"]?.kind) {
        case (.auto, .object): "/aps is an object"
        case (.auto, nil): "there is no /aps"
        case (.auto, _): "/aps is no object"
        case (.short, _), (.long, _): "--keys says so"
        }
    }

    private static func findings(_ message: ReceivedMessage, _ payload: JSONValue, size: Int) -> [LintFinding] {
        var findings = payload.duplicateKeys.map { pointer in
            LintFinding(.duplicateKey, at: pointer, "the key is there more than once; the last one counts here")
        }
        findings += KiiFieldLint(message).findings
        if let aps = payload["aps"], message.keyFamily == .short || aps.kind != .object {
            findings += APSLint(aps).findings
        }
        findings += PayloadLimit.all(for: message.keyFamily).filter { $0.bytes < size }.map { limit in
            LintFinding(
                limit.code, at: JSONPointer(), "\(size) bytes, and the limit of \(limit.network) is \(limit.bytes)")
        }
        return findings
    }
}

extension PayloadExplanation {
    /// Which key decided about the kind, in words.
    var why: String {
        let isShort = self.message.keyFamily == .short
        switch self.message.kindReason {
        case .field(.topic):
            return isShort
                ? "/to is there, and none of /bi, /bt, /oi, /om"
                : "/topic is there, and neither /bucketID, nor /bucketType, nor \"EVENT\" as /origin"
        case .field(let field): return "/\(field.key(in: self.message.keyFamily)) is there"
        case .eventOrigin: return "/origin is \"EVENT\""
        case .noKey:
            return isShort
                ? "none of /bi, /bt, /oi, /om, /to is there"
                : "none of /bucketID, /bucketType, /topic is there, nor \"EVENT\" as /origin"
        }
    }

    /// Whether `--lint` fails.
    var hasProblems: Bool { self.findings.contains(where: \.isProblem) }
}
