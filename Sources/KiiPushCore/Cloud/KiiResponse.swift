/// An answer together with the call it belongs to, as an endpoint gets it for reading.
public struct KiiResponse: Sendable {
    /// The call.
    public let operation: KiiOperation
    /// What the server answered.
    public let http: HTTPResponse
    /// The wall clock when the answer was there.
    public let receivedAt: Timestamp

    /// Puts an answer together; the client does this, and a test of an endpoint may.
    public init(operation: KiiOperation, http: HTTPResponse, receivedAt: Timestamp) {
        self.operation = operation
        self.http = http
        self.receivedAt = receivedAt
    }

    /// The body as JSON.
    ///
    /// - Throws: ``KiiResponseError`` when it is not JSON or larger than ``JSONLimits`` allow.
    public func json() throws(KiiResponseError) -> JSONValue {
        do {
            return try JSONValue(parsing: self.http.body)
        } catch {
            throw KiiResponseError(.notJSON(error), in: self)
        }
    }

    /// The body's members, for reading them by type.
    package func fields() throws(KiiResponseError) -> KiiFields {
        try KiiFields(self.json(), at: JSONPointer(), in: self)
    }
}
