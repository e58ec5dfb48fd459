import KiiPushCore

/// A value that is made of words of a command line: one word, at most one, or many.
package protocol ArgumentValue {
    associatedtype Word: ExpressibleByArgument

    static var isRepeating: Bool { get }

    /// The value if the command line has no word for it; `nil` if a word is required.
    static var absent: Self? { get }

    /// The value after one more word. An array adds the word to `earlier`, the value of the earlier words. Types with a
    /// single word ignore `earlier`.
    static func taking(_ word: Word, after earlier: Self?) -> Self

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

package protocol DeclaredArgument {
    var definition: ArgumentDefinition { get }
    var box: any ArgumentBox { get }
}

/// The storage that the parser fills. A class, so that copies of a command share it.
package protocol ArgumentBox: AnyObject {
    /// The words given for the value, empty if none were. A given flag has one empty word.
    var words: [String] { get }

    func take(_ text: String?) -> String?

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
