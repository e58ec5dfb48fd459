/// The error for an answer with a success status, but without the content that Kii documents.
///
/// The error names the place in the answer, never the content.
public struct KiiResponseError: Error, Sendable, Hashable, CustomStringConvertible {
    package var operation: KiiOperation
    package var status: Int
    package var rule: JSONMemberError.Rule
    /// The place in the body; the root means the whole answer.
    package var pointer: JSONPointer

    init(
        _ rule: JSONMemberError.Rule, at pointer: JSONPointer = JSONPointer(), of operation: KiiOperation, status: Int
    ) {
        self.operation = operation
        self.status = status
        self.rule = rule
        self.pointer = pointer
    }

    /// One line: the call, the fault of its answer, and advice.
    public var description: String {
        let place = self.pointer.tokens.isEmpty ? "the answer" : self.pointer.abbreviated
        return "\(self.operation) answered \(self.status), but \(place) \(self.rule); "
            + "check that the base URL is Kii's and that no proxy answers in its place"
    }
}

extension KiiResponseError: JSONReaderError {
    package init(_ error: JSONMemberError, in document: KiiResponse) {
        // The description of an answer that is not JSON names the place itself.
        let pointer = if case .notJSON = error.rule { JSONPointer() } else { error.pointer }
        self.init(error.rule, at: pointer, of: document.operation, status: document.http.status)
    }
}
