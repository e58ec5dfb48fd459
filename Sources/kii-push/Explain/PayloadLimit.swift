import KiiPushCore

/// How long a payload may be on its way.
///
/// - Source: APNs before iOS 8: 256 bytes; Kii's reference: 2,048 for APNs, 4,096 for MQTT, GCM and FCM; Apple's own
///   limit is 4,096.
struct PayloadLimit {
    let bytes: Int
    let network: String
    let code: LintCode

    /// The limits of the networks that write keys like these, the smallest first.
    static func all(for family: KeyFamily) -> [PayloadLimit] {
        switch family {
        case .short:
            [
                PayloadLimit(bytes: 256, network: "APNs before iOS 8", code: .sizeOver256),
                PayloadLimit(bytes: 2048, network: "APNs at Kii", code: .sizeOver2048),
                PayloadLimit(bytes: 4096, network: "APNs", code: .sizeOver4096),
            ]
        case .long:
            [PayloadLimit(bytes: 4096, network: "MQTT, GCM and FCM at Kii", code: .sizeOver4096)]
        }
    }
}
