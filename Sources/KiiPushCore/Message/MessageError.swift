/// Why a payload is not a push message.
///
/// Safe to log: it holds positions, keys and kinds of values, never a value. (A command is carried, but not printed.)
public enum MessageError: Error, Sendable, Hashable {
    /// The bytes are not JSON.
    case malformed(JSONError)
    /// The payload is JSON, but not an object.
    case notAnObject(found: JSONValue.Kind)
    /// A value has a type that Kii's or Apple's key at that place does not take.
    ///
    /// A single value under one of Kii's own keys is never refused, since a sender's custom keys may have the same
    /// names; an array or object is, since Kii refuses nested data when a message is sent.
    case wrongType(at: JSONPointer, expected: String, found: JSONValue.Kind)
    /// It is no push but a thing-if command, which arrives on the same MQTT topic.
    case thingCommand(ThingCommand)
}

extension MessageError: CustomStringConvertible, CustomDebugStringConvertible {
    /// One line: what is wrong and what to do about it.
    public var description: String {
        switch self {
        case .malformed(let error):
            "the payload is \(error)"
        case .notAnObject(let found):
            "the payload is \(found.phrase); send an object"
        case .wrongType(let pointer, let expected, let found):
            "the payload has \(found.phrase) at \(pointer.abbreviated); send \(expected)"
        case .thingCommand:
            "the payload is a thing-if command; hand it to a command handler"
        }
    }

    /// The same as ``description``.
    public var debugDescription: String { self.description }
}
