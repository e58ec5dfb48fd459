/// A push as it was received: what kind it is, what it is about, who sent it, and everything else it holds.
///
/// The payload is checked once, when the message is made; its fields are read from the retained bytes when they are
/// asked for. Custom keys stand at the top level beside Kii's own, so a sender's key may have the name of one of Kii's:
/// ``rawPayload`` always has everything.
///
/// - Source: `KiiReceivedMessage` of Kii's iOS SDK, `ReceivedMessage` of its Android and Unity SDKs.
public struct ReceivedMessage: Sendable, Hashable, CustomStringConvertible {
    /// The three kinds of push.
    public enum Kind: Sendable, Hashable {
        /// Something changed in a bucket that the receiver subscribes to.
        case pushToApp
        /// Somebody sent a message to a topic that the receiver subscribes to.
        case pushToUser
        /// An administrator sent a message to the receiver itself.
        case directPush
    }

    /// Which kind it is.
    ///
    /// Keys decide, whatever their values, the first of these rules that holds. With long keys: `bucketID`, `bucketType`,
    /// or an `origin` that is `EVENT` (the one value that counts), make a push to app; `topic` makes a push to user. With
    /// short keys: `bi`, `bt`, `oi` or `om` make a push to app; `to` makes a push to user. Anything else is a direct push.
    ///
    /// A message to a topic that was sent without its topic's ID is thus a direct push, and one with a custom key
    /// `bucketID`, or with `aps` and a custom key `to`, is of the kind that the key says. `kii-push explain` names the key.
    public let kind: Kind
    package var kindReason: KindReason { self.fields.kindReason }
    /// What messages of the same source have in common.
    package let sourceKey: SourceKey
    let fields: PayloadFields
    private let boxedContent: Box?

    /// Decodes a payload as it arrives, with whichever keys it is written: an object `aps` at the top level means the
    /// short ones.
    ///
    /// - Parameter bytes: The whole payload. Retained, not copied.
    /// - Throws: ``MessageError``; in particular ``MessageError/thingCommand(_:)`` for a command.
    public init(payload bytes: [UInt8]) throws(MessageError) { try self.init(bytes, family: nil) }
    /// Decodes a payload with short keys, with or without `aps`.
    public init(fromAPNS bytes: [UInt8]) throws(MessageError) { try self.init(bytes, family: .short) }
    /// Decodes a payload with long keys: from MQTT, or the data of GCM and FCM.
    public init(mqttPayload bytes: [UInt8]) throws(MessageError) { try self.init(bytes, family: .long) }

    private init(_ bytes: [UInt8], family required: KeyFamily?) throws(MessageError) {
        let scan = try PayloadScan(checking: bytes)
        let aps = scan.value(slot: PayloadKey.aps, of: bytes)
        let family = required ?? (aps?.kind == .object ? .short : .long)
        // No push can be told from a command by its other keys, so this comes first. Commands never have `aps`.
        if aps?.kind != .object, let command = ThingCommand(scan, of: bytes) { throw .thingCommand(command) }
        let offsets = FieldOffsets(scan, family: family)
        self.boxedContent = family == .short ? aps.flatMap(NotificationContent.init(aps:)).map(Box.init) : nil
        (self.kind, self.sourceKey) = bytes.withUnsafeBufferPointer { buffer in
            let kind = KindReason(offsets, at: buffer).kind
            return (kind, SourceKey(offsets, kind: kind, at: buffer))
        }
        self.fields = PayloadFields(offsets: offsets, payload: JSONSlice(bytes: bytes, range: scan.range))
    }

    /// What the provider asks to be shown: the payload's `aps`.
    ///
    /// `nil` if there is no `aps`, if it is no object, and in a payload that is read with long keys,
    /// where `aps` is a key of the sender's own. The badge stays as it is then.
    public var content: NotificationContent? { self.boxedContent?.content }

    /// The whole payload.
    public var rawPayload: JSONValue { JSONValue(slice: self.fields.payload) }
    /// The payload byte by byte as it was received, without white space around it.
    public var payloadBytes: [UInt8] { self.fields.payload.ownBytes }
    /// Which keys the payload was read with.
    package var keyFamily: KeyFamily { self.fields.offsets.family }

    /// Keeps the content, which few messages have, out of the size of every message.
    private final class Box: Sendable {
        let content: NotificationContent

        init(_ content: NotificationContent) { self.content = content }
    }

    /// Whether both payloads mean the same and were read with the same keys.
    public static func == (left: Self, right: Self) -> Bool {
        left.keyFamily == right.keyFamily && left.rawPayload == right.rawPayload
    }

    /// Hashes what ``==(_:_:)`` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.keyFamily)
        hasher.combine(self.rawPayload)
    }

    /// The kind and the length, without content, so that a message can be named in a log.
    public var description: String { "\(self.kind) message of \(self.fields.payload.range.count) bytes" }
}

/// Why a payload is not a push message.
///
/// A value of the wrong type is no such reason: the message lacks that value, and ``ReceivedMessage/findings`` tells
/// so. Safe to log: the error prints positions, keys and kinds of values, never a value.
public enum MessageError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The bytes are not JSON, or too many (4 MiB).
    case malformed(JSONError)
    /// The payload is JSON, but not an object.
    case notAnObject(found: JSONValue.Kind)
    /// It is no push but a thing-if command, which arrives on the same MQTT topic.
    case thingCommand(ThingCommand)

    /// The error and its remedy, in one line.
    public var description: String {
        switch self {
        case .malformed(let error): "the payload is \(error)"
        case .notAnObject(let found): "the payload is \(found.phrase); send an object"
        case .thingCommand: "the payload is a thing-if command; hand it to a command handler"
        }
    }
}
