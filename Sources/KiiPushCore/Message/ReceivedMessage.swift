/// A received push: its kind, its source, its sender and its payload.
///
/// ```swift
/// let message = try ReceivedMessage(payload: bytes)
/// if message.kind == .pushToApp, let object = message.sourceObject { print("changed:", object.id) }
/// ```
///
/// The initialiser checks the payload once; properties read the retained bytes on each access. A sender's key may have
/// the name of one of Kii's keys; a property may then show the sender's value.
///
/// - Source: `KiiReceivedMessage` of Kii's iOS SDK, `ReceivedMessage` of its Android and Unity SDKs.
public struct ReceivedMessage: Sendable, Hashable, CustomStringConvertible {
    /// The three kinds of push.
    public enum Kind: Sendable, Hashable {
        /// Something changed in a bucket to which the receiver subscribes.
        case pushToApp
        /// Somebody sent a message to a topic to which the receiver subscribes.
        case pushToUser
        /// An administrator sent a message directly to the receiver.
        case directPush
    }

    /// The kind of push. The first rule that applies decides. Except for `origin`, only the presence of a key counts:
    ///
    /// - Long keys (MQTT, GCM, FCM): `bucketID`, `bucketType`, or `origin` with the value `EVENT` make a push to app;
    ///   `topic` makes a push to user.
    /// - Short keys (APNs): `bi`, `bt`, `oi` or `om` make a push to app; `to` makes a push to user.
    /// - Any other payload is a direct push.
    ///
    /// A custom key with one of these names changes the kind. `kii-push explain` names the deciding key.
    public let kind: Kind
    package var kindReason: KindReason { self.fields.kindReason }
    /// Handlers get messages with the same source key in order. Without strict order, later messages overtake a message
    /// that waits for a retry.
    package let sourceKey: SourceKey
    let fields: PayloadFields
    private let boxedContent: Box?

    /// Decodes a received payload. If the top level has an object `aps`, short keys apply, otherwise long keys.
    ///
    /// - Parameter bytes: the whole payload, retained without a copy.
    /// - Throws: ``MessageError``; in particular ``MessageError/thingCommand(_:)`` for a command.
    public init(payload bytes: [UInt8]) throws(MessageError) { try self.init(bytes, family: nil) }
    /// Decodes a payload with short keys, with or without `aps`.
    public init(fromAPNS bytes: [UInt8]) throws(MessageError) { try self.init(bytes, family: .short) }
    /// Decodes a payload with long keys, from MQTT or the data of GCM and FCM.
    public init(mqttPayload bytes: [UInt8]) throws(MessageError) { try self.init(bytes, family: .long) }

    private init(_ bytes: [UInt8], family required: KeyFamily?) throws(MessageError) {
        let scan = try PayloadScan(checking: bytes)
        let aps = scan.value(slot: PayloadKey.aps, of: bytes)
        let family = required ?? (aps?.kind == .object ? .short : .long)
        // Only `commandID` and `actions` distinguish a command from a push. Commands never have `aps`.
        if aps?.kind != .object, let command = ThingCommand(scan, of: bytes) { throw .thingCommand(command) }
        let offsets = FieldOffsets(scan, family: family)
        self.boxedContent = family == .short ? aps.flatMap(NotificationContent.init(aps:)).map(Box.init) : nil
        (self.kind, self.sourceKey) = bytes.withUnsafeBufferPointer { buffer in
            let kind = KindReason(offsets, at: buffer).kind
            return (kind, SourceKey(offsets, kind: kind, at: buffer))
        }
        self.fields = PayloadFields(offsets: offsets, payload: JSONSlice(bytes: bytes, range: scan.range))
    }

    /// The notification that the provider requests: the payload's `aps`.
    ///
    /// `nil` if `aps` is absent or not an object, and in a payload with long keys, where `aps` is the sender's own key.
    /// Without a notification, the badge stays as it is.
    public var content: NotificationContent? { self.boxedContent?.content }

    /// The whole payload.
    public var rawPayload: JSONValue { JSONValue(slice: self.fields.payload) }
    /// The received bytes of the payload, without surrounding white space.
    public var payloadBytes: [UInt8] { self.fields.payload.ownBytes }
    package var keyFamily: KeyFamily { self.fields.offsets.family }

    /// Keeps messages small: few of them have content.
    private final class Box: Sendable {
        let content: NotificationContent

        init(_ content: NotificationContent) { self.content = content }
    }

    /// Whether both payloads are equal JSON values, read by the same key family.
    public static func == (left: Self, right: Self) -> Bool {
        left.keyFamily == right.keyFamily && left.rawPayload == right.rawPayload
    }

    /// Hashes what ``==(_:_:)`` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.keyFamily)
        hasher.combine(self.rawPayload)
    }

    /// The kind and the length without content, safe for logs.
    public var description: String { "\(self.kind) message of \(self.fields.payload.range.count) bytes" }
}

/// The reason why a payload is not a push message.
///
/// A value of the wrong type is no error; ``ReceivedMessage/findings`` lists it. Safe to log: the description contains
/// positions, keys and types, never a value.
public enum MessageError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The bytes are not JSON, exceed 4 MiB, or are nested too deeply.
    case malformed(JSONError)
    /// The payload is JSON, but not an object.
    case notAnObject(found: JSONValue.Kind)
    /// The payload is a thing-if command, which arrives on the same MQTT topic as pushes.
    case thingCommand(ThingCommand)

    /// The error in one line.
    public var description: String {
        switch self {
        case .malformed(let error): "the payload is \(error)"
        case .notAnObject(let found): "the payload is \(found.phrase); send an object"
        case .thingCommand: "the payload is a thing-if command; hand it to a command handler"
        }
    }
}
