package import KiiPushCore

package struct PayloadExplanation {
    package enum Keys: String, CaseIterable, ExpressibleByArgument { case auto, short, long }

    struct Member {
        let pointer: JSONPointer
        let name: String
        /// `nil` for a missing key whose absence has a meaning.
        let value: JSONValue?
        let meaning: KeyMeaning
        /// The meaning of this value; `nil` if the value needs no explanation.
        let reading: String?
    }

    struct Remark {
        let pointer: JSONPointer
        let value: JSONValue?
        let why: String
    }

    package let message: ReceivedMessage
    let keysReason: String
    let listing: MemberListing
    package let findings: [LintFinding]

    package var payload: JSONValue { self.message.rawPayload }
    package var size: Int { self.payload.documentBytes.count }

    /// - Throws: `MessageError` for a payload that receivers refuse.
    package init(_ bytes: [UInt8], keys: Keys) throws(MessageError) {
        self.message =
            switch keys {
            case .auto: try ReceivedMessage(payload: bytes)
            case .short: try ReceivedMessage(fromAPNS: bytes)
            case .long: try ReceivedMessage(mqttPayload: bytes)
            }
        self.keysReason = Self.keysReason(keys, self.message.rawPayload)
        self.listing = MemberListing(self.message)
        self.findings = Self.findings(self.message)
    }

    private static func keysReason(_ keys: Keys, _ payload: JSONValue) -> String {
        switch (keys, payload["aps"]?.kind) {
        case (.auto, .object): "/aps is an object"
        case (.auto, nil): "there is no /aps"
        case (.auto, _): "/aps is no object"
        case (.short, _), (.long, _): "--keys says so"
        }
    }

    private static func findings(_ message: ReceivedMessage) -> [LintFinding] {
        let (payload, size) = (message.rawPayload, message.rawPayload.documentBytes.count)
        var findings = payload.duplicateKeys.map { pointer in
            LintFinding(.duplicateKey, at: pointer, "the key is there more than once; the last one counts here")
        }
        findings += KiiFieldLint(message).findings
        if let aps = payload["aps"], message.keyFamily == .short || aps.kind != .object {
            findings += APSLint(aps).findings
        }
        for (limit, network, code) in Self.limits(of: message.keyFamily) where limit < size {
            findings.append(
                LintFinding(code, at: JSONPointer(), "\(size) bytes, and the limit of \(network) is \(limit)"))
        }
        return findings
    }

    /// The payload limits of networks with this key family, in bytes, in ascending order.
    ///
    /// - Source: APNs before iOS 8: 256; Kii's reference: 2,048 for APNs, 4,096 for MQTT, GCM and FCM; Apple: 4,096.
    private static func limits(of family: KeyFamily) -> [(bytes: Int, network: String, code: LintCode)] {
        switch family {
        case .short:
            [
                (256, "APNs before iOS 8", .sizeOver256), (2048, "APNs at Kii", .sizeOver2048),
                (4096, "APNs", .sizeOver4096),
            ]
        case .long: [(4096, "MQTT, GCM and FCM at Kii", .sizeOver4096)]
        }
    }

    package var why: String {
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

    package var hasProblems: Bool { self.findings.contains(where: \.isProblem) }
}
