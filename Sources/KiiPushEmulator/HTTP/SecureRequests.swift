package import KiiPushCore

/// Hands on the requests that come by HTTPS, and says so in each.
package final class SecureRequests: RequestHandler {
    private let handler: any RequestHandler

    init(to handler: any RequestHandler) { self.handler = handler }

    package func handle(_ request: IncomingRequest, reply: @escaping @Sendable (HTTPResponse?) -> Void) {
        var request = request
        request.isSecure = true
        self.handler.handle(request, reply: reply)
    }

    /// Whether HTTPS is served: wherever libmicrohttpd has TLS.
    ///
    /// - Parameters:
    ///   - port: the port asked for; 0 leaves it to the emulator, which then does without HTTPS where it has to.
    ///   - libraryHasTLS: whether libmicrohttpd was built with TLS.
    /// - Throws: ``EmulatorError`` with the code `httpsUnavailable` where a port is asked for in vain.
    package static func areServed(port: UInt16, libraryHasTLS: Bool) throws(EmulatorError) -> Bool {
        guard !libraryHasTLS, port != 0 else { return libraryHasTLS }
        throw EmulatorError(.httpsUnavailable, "no HTTPS on port \(port): libmicrohttpd was built without TLS here")
    }
}
