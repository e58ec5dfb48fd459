/// Where a parsed value is put. The wrapper that holds it is copied with its command; the box is shared by the copies.
final class ValueBox<Value> {
    var value: Value?
    var isGiven = false

    init(_ value: Value?) {
        self.value = value
    }
}

/// How occurrences become a value: one, at most one, or many.
struct ValueReading<Value> {
    let isRequired: Bool
    let isRepeating: Bool
    let defaultText: String?
    let expectation: String
    let completion: CompletionKind
    let take: (ValueBox<Value>, String) -> Bool

    static func single(default defaultValue: Value?) -> ValueReading where Value: ExpressibleByArgument {
        ValueReading(
            isRequired: defaultValue == nil,
            isRepeating: false,
            defaultText: defaultValue?.argumentText,
            expectation: Value.expectation,
            completion: Value.completion
        ) { box, text in
            guard let value = Value(argument: text) else { return false }
            box.value = value
            return true
        }
    }

    static func optional<Wrapped: ExpressibleByArgument>() -> ValueReading where Value == Wrapped? {
        ValueReading(
            isRequired: false, isRepeating: false, defaultText: nil, expectation: Wrapped.expectation,
            completion: Wrapped.completion
        ) { box, text in
            guard let value = Wrapped(argument: text) else { return false }
            box.value = .some(value)
            return true
        }
    }

    static func array<Element: ExpressibleByArgument>() -> ValueReading where Value == [Element] {
        ValueReading(
            isRequired: false, isRepeating: true, defaultText: nil, expectation: Element.expectation,
            completion: Element.completion
        ) { box, text in
            guard let value = Element(argument: text) else { return false }
            box.value = (box.isGiven ? box.value ?? [] : []) + [value]
            return true
        }
    }
}
