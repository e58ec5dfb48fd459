/// The error for an answer with a success status, but without the content that Kii documents.
///
/// The error names the place in the answer, never the content.
public struct KiiResponseError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Problem: Sendable, Hashable {
        /// A status from 200 to 299 that Kii does not document for the call. A proxy or a network's sign-in page may
        /// send such a status.
        case unexpectedStatus
        /// The body is not JSON, or exceeds the parser's limits.
        case notJSON(JSONError)
        case missing
        case empty
        case wrongType(ExpectedType)
        case unusableTopic
        case tooLong(maximum: Int)
        case outOfRange
        case repeatedPage
    }

    package enum ExpectedType: String, Sendable, Hashable {
        case object, array, string
        case integer
        case bool = "boolean"
    }

    package var operation: KiiOperation
    package var status: Int
    package var problem: Problem
    /// The place in the body; the root means the whole answer.
    package var pointer: JSONPointer

    package init(_ problem: Problem, at pointer: JSONPointer = JSONPointer(), in response: KiiResponse) {
        self.operation = response.operation
        self.status = response.http.status
        self.problem = problem
        self.pointer = pointer
    }

    init(_ problem: Problem, at key: String, of operation: KiiOperation) {
        self.operation = operation
        self.status = 200
        self.problem = problem
        self.pointer = JSONPointer(tokens: [key])
    }

    /// One line: the call, the fault of its answer, and advice.
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
        case .notJSON(let error): self.init(.notJSON(error), in: document)
        case .missing: self.init(.missing, at: error.pointer, in: document)
        case .kind(let kind): self.init(.wrongType(kind == .array ? .array : .object), at: error.pointer, in: document)
        // The readers of Kii's answers never use these two rules.
        case .unknown, .other: self.init(.outOfRange, at: error.pointer, in: document)
        }
    }
}
