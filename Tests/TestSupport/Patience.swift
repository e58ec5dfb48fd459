package import KiiPushCore

// A machine may stand still for a minute in the middle of anything. What a test does not try is waited for as long as it takes.

extension HTTPRequest {
    package static func patient(
        method: String, url: String, fields: [HTTPField] = [], body: [UInt8]? = nil
    ) -> HTTPRequest {
        HTTPRequest(method: method, url: url, fields: fields, body: body, timeout: .seconds(600))
    }
}

extension EventLoop {
    /// A loop that connects as long as it takes.
    package static func patient(proxy: String? = nil) throws -> EventLoop {
        try EventLoop(configuration: Configuration(proxy: proxy, connectTimeout: .seconds(600)))
    }
}
