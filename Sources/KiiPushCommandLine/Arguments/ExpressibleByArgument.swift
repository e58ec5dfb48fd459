package import KiiPushCore

package protocol ExpressibleByArgument: ArgumentValue where Word == Self {
    init?(argument: String)

    /// The expected form of a word, for the error, such as "a whole number".
    static var expectation: String { get }

    static func problem(with argument: String) -> String

    /// The word for a member of config.json; `nil` if the member's JSON type is wrong.
    static func argument(from json: JSONValue) -> String?

    static var memberExpectation: String { get }

    static var completion: CompletionKind { get }
}

extension ExpressibleByArgument {
    package static var completion: CompletionKind { .none }
    package static func problem(with argument: String) -> String { "expected \(Self.expectation)" }
    package static func argument(from json: JSONValue) -> String? { json.string }
    package static var memberExpectation: String { Self.expectation }
}

extension String: ExpressibleByArgument {
    package init?(argument: String) { self = argument }

    package static var expectation: String { "text" }
    package static var memberExpectation: String { "a text" }
    package var argumentText: String? { self }
}

extension UInt16: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }

    package static var expectation: String { "a port from 0 to 65535" }
    package var argumentText: String? { String(self) }
}

package struct PositiveCount: ExpressibleByArgument {
    package let value: Int

    package init?(argument: String) {
        guard let value = Int(argument), value > 0 else { return nil }
        self.value = value
    }

    package static var expectation: String { "a whole number above 0" }
}

package struct HandlerCount: ExpressibleByArgument {
    /// The most that ``PushRuntime/Configuration/concurrentHandlers`` allows.
    package static let most = 10_000

    package let value: Int

    package init?(argument: String) {
        guard let value = Int(argument), (1...Self.most).contains(value) else { return nil }
        self.value = value
    }

    package static var expectation: String { "a whole number from 1 to 10,000" }
    package static func argument(from json: JSONValue) -> String? { json.int64.map { String($0) } }
}

/// A negative number is written as `--badge=-1`.
extension Int: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
    package static var expectation: String { "a whole number" }
}

package struct TimeSpan: ExpressibleByArgument {
    package let duration: Duration

    package init?(argument: String) {
        let digits = argument.prefix { $0.isASCII && $0.isNumber }
        guard let count = Int64(digits), count > 0, count <= 1_000_000_000 else { return nil }
        switch argument.dropFirst(digits.count) {
        case "ms": self.duration = .milliseconds(count)
        case "", "s": self.duration = .seconds(count)
        case "m": self.duration = .seconds(count * 60)
        case "h": self.duration = .seconds(count * 3600)
        default: return nil
        }
    }

    package static var expectation: String { "a time span above 0 such as 500ms, 10s, 5m or 2h" }
    package static var memberExpectation: String { "a text: \(Self.expectation)" }
}

extension ExpressibleByArgument where Self: RawRepresentable & CaseIterable, RawValue == String {
    package init?(argument: String) { self.init(rawValue: argument) }

    package static var expectation: String { "one of " + Self.allCases.map(\.rawValue).joined(separator: ", ") }
    package static var completion: CompletionKind { .words(Self.allCases.map(\.rawValue)) }
    package var argumentText: String? { self.rawValue }
}
