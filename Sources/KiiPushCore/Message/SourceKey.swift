/// Identifies the source of a message: the topic, the bucket, or the sender of a direct push.
///
/// A hash of eight bytes. Two sources may, rarely, share a key; their messages then share one order.
package struct SourceKey: Sendable, Hashable {
    private var value: UInt64

    /// The same in every process; the inbox file stores this number.
    package var number: Int64 { Int64(bitPattern: self.value) }

    /// Safety: the offsets in `fields` must come from a scan of `payload`.
    @inline(__always)
    init(_ fields: FieldOffsets, kind: ReceivedMessage.Kind, at payload: UnsafeBufferPointer<UInt8>) {
        switch kind {
        case .pushToApp:
            self.value = 1
            self.combineScope(fields, at: payload)
            fields.withText(slot: MessageField.bucketID.rawValue, at: payload) { self.combine($0) }
        case .pushToUser:
            self.value = 2
            self.combineScope(fields, at: payload)
            fields.withText(slot: MessageField.topic.rawValue, at: payload) { self.combine($0) }
        case .directPush:
            self.value = 3
            // An address ends with the ID that the field `sender` has, so both result in the same key.
            let hasAddress = fields.withText(slot: PayloadKey.senderURI, at: payload) { !$0.isEmpty }
            let slot = hasAddress ? PayloadKey.senderURI : MessageField.sender.rawValue
            fields.withText(slot: slot, at: payload) { text in
                let id = text.lastIndex(of: UInt8(ascii: "/")).map { text[($0 + 1)...] } ?? text[...]
                self.combine(UnsafeRawBufferPointer(rebasing: id))
            }
        }
    }

    @inline(__always)
    private mutating func combineScope(_ fields: FieldOffsets, at payload: UnsafeBufferPointer<UInt8>) {
        // A source has one scope. The scope's ID is in one of these fields; the app's scope has no ID.
        fields.withText(slot: MessageField.scopeUserID.rawValue, at: payload) { self.combine($0) }
        fields.withText(slot: MessageField.scopeGroupID.rawValue, at: payload) { self.combine($0) }
        fields.withText(slot: MessageField.scopeThingID.rawValue, at: payload) { self.combine($0) }
    }

    private mutating func combine(_ text: UnsafeRawBufferPointer) {
        self.mix(UInt64(truncatingIfNeeded: text.count))
        var position = 0
        while position + 8 <= text.count {
            self.mix(text.loadUnaligned(fromByteOffset: position, as: UInt64.self))
            position += 8
        }
        var rest: UInt64 = 0
        while position < text.count {
            rest = rest << 8 | UInt64(text[position])
            position += 1
        }
        self.mix(rest)
    }

    /// Folds a 128-bit product, so that every bit of the word affects every bit of the key.
    private mutating func mix(_ word: UInt64) {
        let product = (self.value ^ word ^ 0x9E37_79B9_7F4A_7C15).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
        self.value = product.high ^ product.low
    }
}
