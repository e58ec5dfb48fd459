import KiiPushCore

/// Decoding of payloads in all their forms. The input is the payload.
enum MessageFuzzing {
    static func violations(_ input: [UInt8]) -> [String] {
        var claims = Claims()
        let root = try? JSONValue(parsing: input)
        let asItIs = Self.decoded(input, &claims) { bytes throws(MessageError) in try ReceivedMessage(payload: bytes) }
        let short = Self.decoded(input, &claims) { bytes throws(MessageError) in try ReceivedMessage(fromAPNS: bytes) }
        let long = Self.decoded(input, &claims) { bytes throws(MessageError) in try ReceivedMessage(mqttPayload: bytes)
        }
        let isShort = root?["aps"]?.kind == .object
        claims.require(asItIs == (isShort ? short : long), "an object `aps` decides the family")
        for outcome in [asItIs, short, long] {
            switch outcome {
            case .success(let message):
                guard let root else {
                    claims.require(false, "what is not JSON is no message")
                    continue
                }
                Self.check(message, root, &claims)
            case .failure(.malformed): claims.require(root == nil, "what is JSON is not malformed")
            case .failure(.notAnObject(let found)):
                claims.require(root?.kind == found && found != .object, "what is an object is one")
            case .failure(.thingCommand(let command)):
                claims.require(command.rawPayload == root, "a command keeps its payload")
                claims.require(root?["commandID"]?.string == command.commandID, "a command has its ID")
                claims.require(root?["actions"] == command.actions, "a command has its actions")
            }
        }
        return claims.violated
    }

    private static func decoded(
        _ input: [UInt8], _ claims: inout Claims, _ decode: ([UInt8]) throws(MessageError) -> ReceivedMessage
    ) -> Result<ReceivedMessage, MessageError> {
        do throws(MessageError) {
            let message = try decode(input)
            return .success(message)
        } catch {
            claims.require(!error.description.isEmpty, "an error has words")
            return .failure(error)
        }
    }

    private static func check(_ message: ReceivedMessage, _ root: JSONValue, _ claims: inout Claims) {
        claims.require(message.rawPayload == root, "the payload is kept")
        claims.require((try? JSONValue(parsing: message.payloadBytes)) == root, "its bytes are kept")
        let again =
            message.keyFamily == .short
            ? try? ReceivedMessage(fromAPNS: message.payloadBytes)
            : try? ReceivedMessage(mqttPayload: message.payloadBytes)
        claims.require(again == message, "the payload decodes to the message")
        claims.require(again?.kind == message.kind, "so it does to its kind")
        claims.require(again?.sourceKey == message.sourceKey, "so it does to its source")
        claims.require(message.kind == Self.kind(of: root, message.keyFamily), "the keys decide the kind")
        for field in MessageField.allCases {
            let text = root[field.key(in: message.keyFamily)].flatMap(Self.scalarText)
            claims.require(Self.isSame(message.value(of: field), text), "the field \(field) is the last one of its key")
        }
        let known = Set(MessageField.allCases.map { $0.key(in: message.keyFamily) })
        let addresses: Set<String> = message.keyFamily == .long ? ["senderURI", "sourceURI"] : ["aps"]
        let custom = (root.members ?? []).filter { !known.contains($0.key) && !addresses.contains($0.key) }
        claims.require(message.customMembers == custom, "what Kii does not know is custom")
        Self.checkMeaning(message, &claims)
    }

    private static func checkMeaning(_ message: ReceivedMessage, _ claims: inout Claims) {
        for finding in message.findings {
            claims.require(message.rawPayload[finding.pointer]?.kind == finding.found, "a finding names the value")
            claims.require(finding.found != .null, "null is absent")
        }
        claims.require(Set(message.findings).count == message.findings.count, "a value is found once")
        for moment in [message.when, message.modifiedAt].compactMap(\.self) {
            claims.require(moment.description.hasSuffix("Z"), "a moment has words")
        }
        for address in [message.sourceURI].compactMap(\.self) {
            claims.require(KiiURI(address.description) == address, "an address's text is that address")
        }
        _ = (message.eventType, message.origin, message.sender, message.scope, message.appID)
        _ = (message.alertBody, message.description, message.hashValue, try? message.decode([String: JSONValue].self))
    }

    private static func kind(of root: JSONValue, _ family: KeyFamily) -> ReceivedMessage.Kind {
        func has(_ field: MessageField) -> Bool { root[field.key(in: family)] != nil }
        let isPushToApp =
            switch family {
            case .short: has(.bucketID) || has(.bucketType) || has(.objectID) || has(.objectModifiedAt)
            case .long: has(.bucketID) || has(.bucketType) || Self.isSame(root["origin"]?.string, "EVENT")
            }
        return isPushToApp ? .pushToApp : has(.topic) ? .pushToUser : .directPush
    }

    private static func scalarText(_ value: JSONValue) -> String? {
        value.string ?? value.number?.text ?? value.bool.map { $0 ? "true" : "false" }
    }

    /// Compares scalars, because Swift treats some texts with different scalars as equal.
    private static func isSame(_ left: String?, _ right: String?) -> Bool {
        switch (left, right) {
        case (nil, nil): true
        case (let left?, let right?): left.utf8.elementsEqual(right.utf8)
        default: false
        }
    }
}
