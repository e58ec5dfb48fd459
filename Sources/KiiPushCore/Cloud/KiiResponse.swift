package struct KiiResponse: Sendable {
    package let operation: KiiOperation
    package let http: HTTPResponse
    package let receivedAt: Timestamp

    package init(operation: KiiOperation, http: HTTPResponse, receivedAt: Timestamp) {
        (self.operation, self.http, self.receivedAt) = (operation, http, receivedAt)
    }

    package func json() throws(KiiResponseError) -> JSONValue {
        try KiiFields(parsing: self.http.body, in: self).value
    }

    package func fields() throws(KiiResponseError) -> KiiFields {
        try KiiFields(parsing: self.http.body, in: self).object()
    }
}
