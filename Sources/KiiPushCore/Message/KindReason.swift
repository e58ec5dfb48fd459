/// Which key of a payload decided about the message's kind: the rule itself, which the decoder asks.
///
/// - Source: the rule of Kii's Unity SDK, the only one that is published. Keys count, not values, but for `origin`.
package enum KindReason: Sendable, Hashable {
    /// A key of a push to app, or a topic's, is there. Of several the first in the order of the rule is named:
    /// `bucketID`, `bucketType`, `objectID`, `objectModifiedAt` (the last two with short keys alone), then `topic`.
    case field(MessageField)
    /// The `origin` is `EVENT`, which is looked at with long keys alone.
    case eventOrigin
    /// None of them is there, which leaves a direct push.
    case noKey

    /// Asks the rule. Safety: `payload` is the payload's bytes.
    @inline(__always)
    init(_ fields: FieldOffsets, at payload: UnsafeBufferPointer<UInt8>) {
        let isShort = fields.family == .short
        if fields.has(.bucketID) {
            self = .field(.bucketID)
        } else if fields.has(.bucketType) {
            self = .field(.bucketType)
        } else if isShort, fields.has(.objectID) {
            self = .field(.objectID)
        } else if isShort, fields.has(.objectModifiedAt) {
            self = .field(.objectModifiedAt)
        } else if !isShort, fields.isFromEvent(at: payload) {
            self = .eventOrigin
        } else if fields.has(.topic) {
            self = .field(.topic)
        } else {
            self = .noKey
        }
    }

    @inline(__always)
    package var kind: ReceivedMessage.Kind {
        switch self {
        case .field(.topic): .pushToUser
        case .field, .eventOrigin: .pushToApp
        case .noKey: .directPush
        }
    }

    /// The field whose key decided; `nil` if it was the absence of all of them.
    package var field: MessageField? {
        switch self {
        case .field(let field): field
        case .eventOrigin: .origin
        case .noKey: nil
        }
    }
}

extension FieldOffsets {
    @inline(__always)
    fileprivate func isFromEvent(at payload: UnsafeBufferPointer<UInt8>) -> Bool {
        self.withText(slot: MessageField.origin.rawValue, at: payload) { $0.elementsEqual("EVENT".utf8) }
    }
}
