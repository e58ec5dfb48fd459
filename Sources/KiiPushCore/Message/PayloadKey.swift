import Glibc

/// The known top-level keys of a payload, each with a slot in ``PayloadScan``. The slots of a family follow the order
/// of ``MessageField``. `senderURI` and `sourceURI` have no short keys.
enum PayloadKey {
    static let longFields = 0
    static let senderURI = 15
    static let sourceURI = 16
    static let shortFields = 17
    static let aps = 32
    static let commandID = 33
    static let actions = 34

    @inline(__always)
    static func fields(_ family: KeyFamily) -> Range<Int> {
        switch family {
        case .long: PayloadKey.longFields..<PayloadKey.shortFields
        case .short: PayloadKey.shortFields..<PayloadKey.aps
        }
    }

    @inline(__always)
    static func slot(of range: JSONStringRange, at base: UnsafePointer<UInt8>, in bytes: [UInt8]) -> Int? {
        if range.isEscaped {
            var key = JSONText.string(in: bytes.span, range.start..<range.end, isEscaped: true)
            return key.withUTF8 { utf8 in utf8.baseAddress.flatMap { PayloadKey.slot($0, count: utf8.count) } }
        }
        return PayloadKey.slot(base + range.start, count: range.end - range.start)
    }

    /// Comparing lengths first leaves one comparison of bytes for most keys.
    @inline(__always)
    static func slot(_ key: UnsafePointer<UInt8>, count: Int) -> Int? {
        switch count {
        case 1:
            return PayloadKey.short(key, [.appID, .sender, .type, .when, .origin])
        case 2:
            let fields: InlineArray<9, MessageField> = [
                .topic, .scopeAppID, .scopeUserID, .scopeGroupID, .scopeType, .bucketID, .bucketType, .objectID,
                .objectModifiedAt,
            ]
            return PayloadKey.short(key, fields)
        case 3:
            if PayloadKey.spells(key, "aps") { return PayloadKey.aps }
            return PayloadKey.short(key, [.scopeThingID])
        case 4: return PayloadKey.long(key, [.type, .when])
        case 5: return PayloadKey.long(key, [.appID, .topic])
        case 6: return PayloadKey.long(key, [.sender, .origin])
        case 7: return PayloadKey.spells(key, "actions") ? PayloadKey.actions : nil
        case 8: return PayloadKey.long(key, [.bucketID, .objectID])
        case 9:
            if PayloadKey.spells(key, "senderURI") { return PayloadKey.senderURI }
            if PayloadKey.spells(key, "sourceURI") { return PayloadKey.sourceURI }
            return PayloadKey.spells(key, "commandID") ? PayloadKey.commandID : nil
        case 10: return PayloadKey.long(key, [.bucketType, .objectModifiedAt])
        case 15: return PayloadKey.long(key, [.scopeType])
        case 16: return PayloadKey.long(key, [.scopeAppID])
        case 17: return PayloadKey.long(key, [.scopeUserID])
        case 18: return PayloadKey.long(key, [.scopeGroupID, .scopeThingID])
        default: return nil
        }
    }

    @inline(__always)
    private static func long<let count: Int>(
        _ key: UnsafePointer<UInt8>, _ fields: InlineArray<count, MessageField>
    ) -> Int? {
        for index in fields.indices where PayloadKey.spells(key, fields[index].keys.long) {
            return PayloadKey.longFields + fields[index].rawValue
        }
        return nil
    }

    @inline(__always)
    private static func short<let count: Int>(
        _ key: UnsafePointer<UInt8>, _ fields: InlineArray<count, MessageField>
    ) -> Int? {
        for index in fields.indices where PayloadKey.spells(key, fields[index].keys.short) {
            return PayloadKey.shortFields + fields[index].rawValue
        }
        return nil
    }

    /// `key` must have at least as many bytes as `literal`.
    @inline(__always)
    private static func spells(_ key: UnsafePointer<UInt8>, _ literal: StaticString) -> Bool {
        memcmp(key, literal.utf8Start, literal.utf8CodeUnitCount) == 0
    }
}
