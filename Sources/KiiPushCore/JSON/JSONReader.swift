/// Reads the members of a JSON document by type, and throws the caller's own error type. Ignores unknown members unless
/// ``object(_:)`` gets the names of all allowed members.
package struct JSONReader<Failure: JSONReaderError>: Sendable {
    package let value: JSONValue
    package let document: Failure.Document

    package init(_ value: JSONValue, in document: Failure.Document) {
        self.value = value
        self.document = document
    }

    package init(
        parsing bytes: [UInt8], maximumBytes: Int = JSONValue.maximumBytes, in document: Failure.Document
    ) throws(Failure) {
        do throws(JSONError) {
            self.init(try JSONValue(parsing: bytes, maximumBytes: maximumBytes), in: document)
        } catch {
            let place = bytes.place(of: error.byteOffset)
            let failure = JSONMemberError(
                rule: .notJSON(error), pointer: error.pointer, place: "\(place.line):\(place.column)")
            throw Failure(failure, in: document)
        }
    }

    package var pointer: JSONPointer { self.value.pointer }

    /// Returns the member even if it is `null`.
    package subscript(key: String) -> Self? { self.value[key].map { Self($0, in: self.document) } }

    /// `nil` if the member is absent or `null`.
    package func present(_ key: String) -> Self? {
        guard let member = self.value[key], !member.isNull else { return nil }
        return Self(member, in: self.document)
    }

    package func required(_ key: String) throws(Failure) -> Self {
        guard let member = self.present(key) else { throw self.failure(.missing, at: key) }
        return member
    }

    /// Requires an object. `members` are the allowed members; `nil` allows any.
    @discardableResult
    package func object(_ members: [String]? = nil) throws(Failure) -> Self {
        guard self.value.kind == .object else { throw self.failure(.kind(.object)) }
        guard let members else { return self }
        if let unknown = self.value.members?.first(where: { !members.contains($0.key) }) {
            throw self.failure(.unknown(members), at: unknown.key)
        }
        return self
    }

    package func elements() throws(Failure) -> [Self] {
        guard let elements = self.value.array else { throw self.failure(.kind(.array)) }
        return elements.map { Self($0, in: self.document) }
    }

    /// Throws the error "must be `expectation`" if `transform` returns `nil`.
    package func read<Value>(
        _ expectation: String, _ transform: (JSONValue) -> Value?
    ) throws(Failure) -> Value {
        guard let value = transform(self.value) else { throw self.failure("must be \(expectation)") }
        return value
    }

    package func text() throws(Failure) -> String { try self.read("a text", \.string) }

    package func flag() throws(Failure) -> Bool { try self.read("true or false", \.bool) }

    /// A text without a zero byte, which would end a C string.
    package func nonEmptyText() throws(Failure) -> String {
        try self.read("a text that is not empty and holds no zero") { value in
            value.string.flatMap { $0.isEmpty || $0.utf8.contains(0) ? nil : $0 }
        }
    }

    package func nonEmptyText(_ key: String) throws(Failure) -> String? { try self.present(key)?.nonEmptyText() }

    package func word(of words: [String]) throws(Failure) -> String {
        try self.read("one of " + words.joined(separator: ", ")) { value in
            value.string.flatMap { words.contains($0) ? $0 : nil }
        }
    }

    package func seconds() throws(Failure) -> Duration {
        try self.read("a number of seconds from 0 to 1000000000") { value in
            value.double.flatMap { (0...1e9).contains($0) ? .seconds($0) : nil }
        }
    }

    package func integer<Integer: FixedWidthInteger>(in range: ClosedRange<Integer>? = nil) throws(Failure) -> Integer {
        let expectation = range.map { "a whole number from \($0.lowerBound) to \($0.upperBound)" } ?? "a whole number"
        return try self.read(expectation) { value in
            value.int64.flatMap { Integer(exactly: $0) }.flatMap { range?.contains($0) == false ? nil : $0 }
        }
    }

    package func failure(_ rule: JSONMemberError.Rule, at key: String? = nil) -> Failure {
        let pointer = key.map { self.pointer.appending($0) } ?? self.pointer
        let place = (key.flatMap { self.value[$0] } ?? self.value).place
        return Failure(JSONMemberError(rule: rule, pointer: pointer, place: place), in: self.document)
    }

    package func failure(_ words: String, at key: String? = nil) -> Failure { self.failure(.other(words), at: key) }
}

package typealias JSONDocument = JSONReader<JSONMemberError>

extension JSONDocument {
    package init(strict bytes: [UInt8]) throws(JSONMemberError) {
        try self.init(parsing: bytes, in: ())
        guard let repeated = self.value.duplicateKeys.first else { return }
        throw JSONMemberError(
            rule: .other("is there twice; write each key once"), pointer: repeated,
            place: self.value[repeated]?.place ?? "1:1")
    }
}

package protocol JSONReaderError: Error {
    associatedtype Document: Sendable

    init(_ error: JSONMemberError, in document: Document)
}

/// The rule that a document breaks. Contains names of members, but no values.
package struct JSONMemberError: Hashable, CustomStringConvertible {
    package enum Rule: Sendable, Hashable, CustomStringConvertible {
        case notJSON(JSONError)
        case missing
        case kind(JSONValue.Kind)
        case unknown([String])
        /// The words that follow the pointer in an error's text.
        case other(String)

        package var description: String {
            switch self {
            case .notJSON(let error): "is \(error)"
            case .missing: "is missing"
            case .kind(let kind): "must be \(kind.phrase)"
            case .unknown(let members): "is unknown; there is \(members.joined(separator: ", "))"
            case .other(let words): words
            }
        }
    }

    package var rule: Rule
    package var pointer: JSONPointer
    /// `LINE:COLUMN`, both from 1.
    package var place: String

    package var description: String {
        if case .notJSON = self.rule { return "the document \(self.rule)" }
        return "\(self.pointer.tokens.isEmpty ? "the document" : self.pointer.description) \(self.rule)"
    }
}

extension JSONMemberError: JSONReaderError {
    package init(_ error: JSONMemberError, in document: Void) { self = error }
}

extension JSONValue {
    fileprivate var pointer: JSONPointer {
        guard case .parsed(let slice) = self.storage else { return JSONPointer() }
        return JSONPointer(leadingTo: slice.range.lowerBound, in: slice.bytes)
    }

    /// `LINE:COLUMN`, both from 1; `1:1` for a value that was not parsed.
    package var place: String {
        guard case .parsed(let slice) = self.storage else { return "1:1" }
        let place = slice.bytes.place(of: slice.range.lowerBound)
        return "\(place.line):\(place.column)"
    }
}

extension [UInt8] {
    /// The line and the column of a byte, from 1. A column counts Unicode scalars.
    package func place(of offset: Int) -> (line: Int, column: Int) {
        let before = self.prefix(offset)
        let lines = before.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        // In UTF-8, all bytes of a character except the first are 10xxxxxx.
        let column = (lines.last ?? []).count { $0 & 0xC0 != 0x80 } + 1
        return (lines.count, column)
    }
}
