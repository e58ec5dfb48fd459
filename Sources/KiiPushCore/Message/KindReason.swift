/// The reason why a push has its kind. Only the presence of a key counts, except for `origin`, whose value counts.
///
/// - Source: Kii's Unity SDK, which has the only published rule
package enum KindReason: Sendable, Hashable {
    /// The first of these keys that is present decides: `bucketID`, `bucketType`, `objectID` and `objectModifiedAt`
    /// (the last two only with short keys), then `topic`.
    case field(MessageField)
    /// The `origin` is `EVENT`. In payloads with short keys, `origin` does not count.
    case eventOrigin
    /// The payload has no deciding key: a direct push.
    case noKey

    /// Safety: the offsets in `fields` must come from a scan of `payload`.
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
