/// Why a payload is not a push message.
///
/// A value of the wrong type in a payload is no such reason: it is left out, which ``ReceivedMessage/findings`` tells. Safe
/// to log: it prints positions, keys and kinds of values, never a value.
public enum MessageError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The bytes are not JSON, or too many (4 MiB).
    case malformed(JSONError)
    /// The payload is JSON, but not an object.
    case notAnObject(found: JSONValue.Kind)
    /// It is no push but a thing-if command, which arrives on the same MQTT topic.
    case thingCommand(ThingCommand)

    /// One line: what is wrong and what to do about it.
    public var description: String {
        switch self {
        case .malformed(let error): "the payload is \(error)"
        case .notAnObject(let found): "the payload is \(found.phrase); send an object"
        case .thingCommand: "the payload is a thing-if command; hand it to a command handler"
        }
    }
}
