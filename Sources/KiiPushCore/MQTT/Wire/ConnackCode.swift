/// What a broker answers to CONNECT (MQTT 3.1.1, table 3.1).
package enum ConnackCode: Sendable, Hashable, CustomStringConvertible {
    case accepted, unacceptableProtocolVersion, identifierRejected, serverUnavailable, badUserNameOrPassword
    case notAuthorized
    /// 6 to 255, which the specification reserves.
    case reserved(UInt8)

    package init(rawValue: UInt8) {
        switch rawValue {
        case 0: self = .accepted
        case 1: self = .unacceptableProtocolVersion
        case 2: self = .identifierRejected
        case 3: self = .serverUnavailable
        case 4: self = .badUserNameOrPassword
        case 5: self = .notAuthorized
        default: self = .reserved(rawValue)
        }
    }

    package var rawValue: UInt8 {
        switch self {
        case .accepted: 0
        case .unacceptableProtocolVersion: 1
        case .identifierRejected: 2
        case .serverUnavailable: 3
        case .badUserNameOrPassword: 4
        case .notAuthorized: 5
        case .reserved(let value): value
        }
    }

    /// Whether the endpoint's credentials should be fetched again before the next attempt.
    package var refusesCredentials: Bool { self == .badUserNameOrPassword || self == .notAuthorized }

    /// One line: what the broker said, and what to do about it.
    package var description: String {
        switch self {
        case .accepted: "the broker accepted the connection"
        case .unacceptableProtocolVersion:
            "the broker does not speak this version of MQTT (CONNACK 1); connect with the other one"
        case .identifierRejected:
            "the broker rejects the client identifier (CONNACK 2); fetch the endpoint again and use its topic as identifier"
        case .serverUnavailable: "the broker is not available (CONNACK 3); try again later"
        case .badUserNameOrPassword: "the broker refuses user name or password (CONNACK 4); fetch the endpoint again"
        case .notAuthorized: "the broker does not authorize this client (CONNACK 5); fetch the endpoint again"
        case .reserved(let value):
            "the broker refuses with an unknown code (CONNACK \(value)); see the broker's log"
        }
    }
}
