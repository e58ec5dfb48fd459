import KiiPushCore

/// A value made of the words of a command line: one value, at most one, or many.
package protocol ArgumentValue {
    associatedtype Word: ExpressibleByArgument

    static var isRepeating: Bool { get }

    /// The value without any word; `nil` where a word is required.
    static var absent: Self? { get }

    /// The value with another word; `earlier` is what the words before it made, `nil` for the first.
    static func taking(_ word: Word, after earlier: Self?) -> Self

    /// The value, spelled as on a command line; `nil`: help shows no default.
    var argumentText: String? { get }
}

extension ArgumentValue {
    package static var isRepeating: Bool { false }
    package var argumentText: String? { nil }
}

extension ExpressibleByArgument {
    package static var absent: Self? { nil }
    package static func taking(_ word: Self, after earlier: Self?) -> Self { word }
}

extension Optional: ArgumentValue where Wrapped: ExpressibleByArgument {
    package static var absent: Self? { .some(.none) }
    package static func taking(_ word: Wrapped, after earlier: Self?) -> Self { word }
}

extension Array: ArgumentValue where Element: ExpressibleByArgument {
    package static var isRepeating: Bool { true }
    package static var absent: Self? { [] }
    package static func taking(_ word: Element, after earlier: Self?) -> Self { (earlier ?? []) + [word] }
}

/// A property wrapper that declares an argument of the command line.
package protocol DeclaredArgument {
    func bound(property: String) -> BoundArgument
}

/// The storage that the parser fills. A command and its copies share it.
package protocol ArgumentBox: AnyObject {
    /// The words that made the value; an empty one for a flag.
    var words: [String] { get }

    /// Takes one occurrence; `text` is `nil` for a flag. Returns the error for an invalid word.
    func take(_ text: String?) -> String?

    /// Takes the value of a member of config.json.
    func take(_ member: ConfigurationDocument) throws(CommandFailure)
}

extension ArgumentBox {
    package var isGiven: Bool { !self.words.isEmpty }
}

final class ValueBox<Value: ArgumentValue>: ArgumentBox {
    private var stored: Value?
    private(set) var words: [String] = []

    init(_ initial: Value?) {
        self.stored = initial
    }

    var value: Value {
        // The parser reports a missing required value before any command can read it.
        guard let value = self.stored else { preconditionFailure("read before it was parsed") }
        return value
    }

    func take(_ text: String?) -> String? {
        let text = text ?? ""
        guard let word = Value.Word(argument: text) else { return Value.Word.problem(with: text) }
        self.stored = Value.taking(word, after: self.isGiven ? self.stored : nil)
        self.words = Value.isRepeating ? self.words + [text] : [text]
        return nil
    }

    func take(_ member: ConfigurationDocument) throws(CommandFailure) {
        let rule = Value.isRepeating ? "a list of texts" : Value.Word.memberExpectation
        try member.read(rule) { value in
            let values = Value.isRepeating ? value.array : [value]
            let words = values?.compactMap(Value.Word.argument) ?? []
            return words.count == values?.count && words.allSatisfy { self.take($0) == nil } ? () : nil
        }
    }
}
