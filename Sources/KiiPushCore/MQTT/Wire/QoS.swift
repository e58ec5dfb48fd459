/// How hard a message is delivered, as asked for, granted, or used by one PUBLISH.
///
/// - Source: MQTT 3.1.1, section 4.3.
package enum QoS: UInt8, Sendable, Hashable, Comparable {
    case atMostOnce = 0
    case atLeastOnce = 1
    case exactlyOnce = 2

    package static func < (left: QoS, right: QoS) -> Bool {
        left.rawValue < right.rawValue
    }
}
