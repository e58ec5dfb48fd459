/// How hard a message is delivered, as asked for, granted, or used by one PUBLISH (MQTT 3.1.1, 4.3).
package enum QoS: UInt8, Sendable, Hashable, Comparable {
    // In the order of their values on the wire.
    case atMostOnce, atLeastOnce, exactlyOnce

    package static func < (left: QoS, right: QoS) -> Bool { left.rawValue < right.rawValue }
}
