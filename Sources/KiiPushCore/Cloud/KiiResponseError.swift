/// An answer that claims success and is not what Kii documents.
///
/// It says where the answer is wrong and never what it holds.
public struct KiiResponseError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong with the answer.
    package enum Problem: Sendable, Hashable {
        /// A status from 200 to 299 that the call never has, as a proxy or a network's sign-in page sends it.
        case unexpectedStatus
        /// The body is not JSON, or larger than is read.
        case notJSON(JSONError)
        /// A member that Kii always sends is absent.
        case missing
        /// A string that must hold something is empty.
        case empty
        /// A value has another type.
        case wrongType(ExpectedType)
        /// A text is no topic on which one installation alone receives: it has a wildcard or U+0000, begins with `$`, or is
        /// longer than 1,024 bytes.
        case unusableTopic
        /// A string is longer than any that Kii sends; `maximum` is what is taken, in bytes of UTF-8.
        case tooLong(maximum: Int)
        /// A number is too small or too large for what it means.
        case outOfRange
        /// A list's next page is one that was read already.
        case repeatedPage
    }

    /// What a value should have been.
    package enum ExpectedType: String, Sendable, Hashable {
        case object, array, string
        /// A number without a fraction.
        case integer
        case bool = "boolean"
    }

    package var operation: KiiOperation
    /// The HTTP status.
    package var status: Int
    /// What is wrong.
    package var problem: Problem
    /// The place in the body; the root when the whole answer is meant.
    package var pointer: JSONPointer

    /// Makes an error about an answer.
    package init(_ problem: Problem, at pointer: JSONPointer = JSONPointer(), in response: KiiResponse) {
        self.operation = response.operation
        self.status = response.http.status
        self.problem = problem
        self.pointer = pointer
    }

    /// Makes an error about a member of an answer with status 200 that was read before.
    init(_ problem: Problem, at key: String, of operation: KiiOperation) {
        self.operation = operation
        self.status = 200
        self.problem = problem
        self.pointer = JSONPointer(tokens: [key])
    }

    /// One line: which call, what is wrong with its answer, and what to check.
    public var description: String {
        "\(self.operation) answered \(self.status), but \(self.defect); "
            + "check that the base URL is Kii's and that no proxy answers in its place"
    }

    private var defect: String {
        let place = self.pointer.tokens.isEmpty ? "the body" : self.pointer.abbreviated
        switch self.problem {
        case .unexpectedStatus: return "this call never answers so"
        case .notJSON(let error): return "the body is \(error)"
        case .missing: return "\(place) is missing"
        case .empty: return "\(place) is empty"
        case .tooLong(let maximum): return "\(place) is longer than \(maximum) bytes"
        case .wrongType(let type): return "\(place) is not of type \(type.rawValue)"
        case .unusableTopic:
            return "\(place) is no topic to receive on (a wildcard, U+0000, \"$\" at its beginning, or more than "
                + "\(MQTTEndpoint.maximumTopicBytes) bytes)"
        case .outOfRange: return "\(place) is out of range"
        case .repeatedPage: return "\(place) leads back to a page that was read already"
        }
    }
}

extension KiiResponseError: JSONReaderError {
    package init(_ error: JSONMemberError, in document: KiiResponse) {
        switch error.rule {
        // The parser's error has the pointer.
        case .notJSON(let error): self.init(.notJSON(error), in: document)
        case .missing: self.init(.missing, at: error.pointer, in: document)
        case .kind(let kind): self.init(.wrongType(kind == .array ? .array : .object), at: error.pointer, in: document)
        // Rules of strict documents.
        case .unknown, .other: self.init(.outOfRange, at: error.pointer, in: document)
        }
    }
}
