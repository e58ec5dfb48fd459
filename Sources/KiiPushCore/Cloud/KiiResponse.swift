/// An answer together with the call that it belongs to.
package struct KiiResponse: Sendable {
    package let operation: KiiOperation
    /// What the server answered.
    package let http: HTTPResponse
    /// The wall clock when the answer was there.
    package let receivedAt: Timestamp

    package init(operation: KiiOperation, http: HTTPResponse, receivedAt: Timestamp) {
        (self.operation, self.http, self.receivedAt) = (operation, http, receivedAt)
    }

    /// The body as JSON.
    ///
    /// - Throws: ``KiiResponseError`` when it is not JSON or larger than ``JSONLimits`` allow.
    package func json() throws(KiiResponseError) -> JSONValue {
        try KiiFields(parsing: self.http.body, in: self).value
    }

    /// The body's members, for reading them by type.
    package func fields() throws(KiiResponseError) -> KiiFields {
        try KiiFields(parsing: self.http.body, in: self).object()
    }
}
