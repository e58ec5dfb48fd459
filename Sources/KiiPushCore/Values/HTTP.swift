/// One HTTP header field. Names are compared without regard to case (RFC 9110 section 5.1).
package struct HTTPField: Sendable, Hashable {
    package var name: String
    /// Without surrounding white space.
    package var value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Whether this is the field `name`, compared without regard to ASCII case.
    package func isNamed(_ name: String) -> Bool {
        self.name.utf8.count == name.utf8.count
            && self.name.utf8.elementsEqual(name.utf8) { $0.asciiLowercased == $1.asciiLowercased }
    }
}

extension UInt8 {
    /// The ASCII letter in lower case; any other byte as it is.
    fileprivate var asciiLowercased: UInt8 {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self ? self | 0x20 : self
    }
}

/// A request, complete and independent of what sends it.
package struct HTTPRequest: Sendable {
    /// The method in upper case, such as `GET`.
    package var method: String
    /// The absolute URL, `http` or `https`, already percent-encoded.
    package var url: String
    /// Header fields in the order in which they are sent. May hold credentials: never logged.
    package var fields: [HTTPField]
    /// The body; `nil` sends none, an empty array sends `Content-Length: 0`.
    package var body: [UInt8]?
    /// How long the whole exchange may take. Default 30 s.
    package var timeout: Duration

    package init(
        method: String, url: String, fields: [HTTPField] = [], body: [UInt8]? = nil, timeout: Duration = .seconds(30)
    ) {
        self.method = method
        self.url = url
        self.fields = fields
        self.body = body
        self.timeout = timeout
    }
}

/// What a server answered, whatever the status.
package struct HTTPResponse: Sendable {
    /// 100 to 599.
    package var status: Int
    /// Header fields of the final response, in order.
    package var fields: [HTTPField]
    package var body: [UInt8]

    package init(status: Int, fields: [HTTPField] = [], body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// The first value of the field `name`, compared without regard to ASCII case.
    package func field(_ name: String) -> String? {
        self.fields.first { $0.isNamed(name) }?.value
    }
}

/// What sends an ``HTTPRequest``. The library's own is libcurl; a test may put its own here.
package protocol HTTPTransport: Sendable {
    /// Sends `request` and returns the answer, whatever its status.
    ///
    /// - Throws: ``TransportError`` when there was no whole answer; `CancellationError` when the task was cancelled.
    func perform(_ request: HTTPRequest) async throws -> HTTPResponse
}
