package import KiiPushCore

// A machine may stand still for a minute at any moment. So limits that a test does not check are very long.

extension HTTPRequest {
    package static func patient(
        method: String, url: String, fields: [HTTPField] = [], body: [UInt8]? = nil
    ) -> HTTPRequest {
        HTTPRequest(method: method, url: url, fields: fields, body: body, timeout: .seconds(600))
    }
}

extension EventLoop {
    /// A loop with a long limit for connections.
    package static func patient(proxy: String? = nil) throws -> EventLoop {
        try EventLoop(configuration: Configuration(proxy: proxy, connectTimeout: .seconds(600)))
    }
}
