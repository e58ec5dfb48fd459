import CMicroHTTPD
import Glibc
package import KiiPushCore

/// A request as it came over the socket, before anybody looked at what it means.
package struct IncomingRequest: Sendable {
    /// The method, as sent.
    package var method: String
    /// Path and query as sent, still percent-encoded.
    package var target: String
    /// Header fields in order.
    package var fields: [HTTPField]
    /// The whole body; empty when there was none.
    package var body: [UInt8]
    /// Whether the body was larger than the server takes; ``body`` is then empty.
    package var isBodyTooLarge = false
    /// Whether it came by HTTPS.
    package var isSecure = false

    package init(method: String, target: String, fields: [HTTPField] = [], body: [UInt8] = []) {
        self.method = method
        self.target = target
        self.fields = fields
        self.body = body
    }

    /// The method that is meant: Kii's guide and KiiThingSDK send PATCH as a POST with a field that says so.
    package var meantMethod: String {
        guard self.method == "POST",
            let field = self.fields.first(where: { $0.name.lowercased() == "x-http-method-override" })
        else { return self.method }
        return field.value.uppercased()
    }
}

extension IncomingRequest {
    /// Whether the request names this machine, on whatever port: a proxy may stand in front.
    ///
    /// A web page can have a browser resolve the page's own name to 127.0.0.1 and send requests here ("DNS rebinding").
    /// The field `Host` then holds the page's name. A request of HTTP/1.0 may have none.
    var isForThisMachine: Bool {
        self.fields.filter { $0.isNamed("Host") }.allSatisfy { field in
            let host = field.value.lowercased()
            return ["127.0.0.1", "localhost", "[::1]"].contains { name in
                guard host.hasPrefix(name) else { return false }
                let port = host.dropFirst(name.count)
                return port.isEmpty || (port.first == ":" && UInt16(port.dropFirst()) != nil)
            }
        }
    }
}

/// What answers requests.
protocol RequestHandler: AnyObject, Sendable {
    /// Answers `request` by calling `reply` once, from any thread, now or later; the connection waits meanwhile and
    /// no other request does. `nil` closes the connection without an answer. Runs on the thread of the server that took
    /// the request.
    func handle(_ request: IncomingRequest, reply: @escaping @Sendable (HTTPResponse?) -> Void)
}

/// HTTP/1.1 on the loopback interface, plain or with TLS, by libmicrohttpd with one thread on epoll.
final class HTTPServer: Sendable {
    static let maximumBodyBytes = 1 << 20
    private static let idleTimeoutSeconds: UInt32 = 120
    /// A fleet's: who comes when there are so many waits until another one's connection has been idle for too long.
    /// Where the process may have fewer descriptors, that is the limit.
    private static let maximumConnections: UInt32 = 10_000
    /// How long a client may take at the end to read an answer that is larger than the socket's buffers.
    private static let stopPatience = Duration.seconds(2)
    /// Whether the library can serve HTTPS.
    static let hasTLS = cmhd_has_tls()

    let port: UInt16
    /// Taken out by who stops it.
    private let running: Locked<Running?>

    /// Serves what comes to `listener`: HTTPS with the server's certificate of `certificates`, else plain HTTP.
    init(
        _ listener: consuming Listener, handler: any RequestHandler, certificates: Certificates? = nil
    ) throws(EmulatorError) {
        let identity = try certificates?.serverIdentity()
        self.port = listener.port
        let context = Unmanaged.passRetained(Context(handler: handler, unanswered: try UnansweredRequests()))
        let descriptor = listener.release()
        let daemon = cmhd_start(
            descriptor,
            HTTPServer.idleTimeoutSeconds,
            HTTPServer.maximumConnections,
            identity?.key.reveal(),
            identity?.certificate,
            { context, connection, _, method, _, upload, uploadSize, exchange in
                guard let context, let connection, let method, let uploadSize, let raw = exchange?.pointee else {
                    return .NO
                }
                // Balanced in stop(), after the last callback: unretained here.
                let server = Unmanaged<Context>.fromOpaque(context).takeUnretainedValue()
                // Balanced in the completion callback: unretained here.
                let exchange = Unmanaged<Exchange>.fromOpaque(raw).takeUnretainedValue()
                return exchange.advance(
                    connection: connection, method: method,
                    upload: UnsafeRawBufferPointer(start: upload, count: uploadSize.pointee), uploadSize: uploadSize,
                    handler: server.handler, unanswered: server.unanswered)
            },
            { _, uri, _ in
                // The first call of a request; the completion callback releases the exchange.
                Unmanaged.passRetained(Exchange(target: uri.map { String(cString: $0) } ?? "/")).toOpaque()
            },
            { context, _, exchange, _ in
                guard let context, let exchange, let raw = exchange.pointee else { return }
                let ended = Unmanaged<Exchange>.fromOpaque(raw).takeRetainedValue()
                exchange.pointee = nil
                guard ended.wasHandled else { return }
                Unmanaged<Context>.fromOpaque(context).takeUnretainedValue().unanswered.remove()
            },
            context.toOpaque()
        )
        guard let daemon else {
            close(descriptor)
            context.release()
            guard let certificates else { throw .system("start the HTTP server", errno) }
            throw EmulatorError(.certificatesFailed, "HTTPS does not start with those in \(certificates.directory)")
        }
        self.running = Locked(Running(daemon: daemon, context: context))
    }

    /// Ends the server; blocks until its thread has ended. No connection may wait for a reply any more.
    ///
    /// What was replied is sent first: libmicrohttpd closes its connections wherever they are.
    func stop() {
        let running = self.running.withLock { running in
            let taken = running
            running = nil
            return taken
        }
        guard let running else { return }
        running.context.takeUnretainedValue().unanswered.waitUntilNone(patience: HTTPServer.stopPatience)
        MHD_stop_daemon(running.daemon)
        running.context.release()
    }

    deinit { self.stop() }

    /// A socket that listens on 127.0.0.1 already, so that its port is known before the first request.
    struct Listener: ~Copyable {
        private let socket: FileDescriptor

        /// - Parameters:
        ///   - port: the port asked for; 0 takes `preferred` if it is free, else any.
        init(port: UInt16, preferred: UInt16) throws(EmulatorError) {
            if port == 0, preferred != 0, let socket = try LoopbackSocket.listening(on: preferred) {
                self.socket = socket
                return
            }
            guard let socket = try LoopbackSocket.listening(on: port) else {
                throw EmulatorError(.portInUse(port), "port \(port) of 127.0.0.1 is taken")
            }
            self.socket = socket
        }

        var port: UInt16 { LoopbackSocket.port(of: self.socket.raw) }

        fileprivate consuming func release() -> Int32 { self.socket.release() }
    }

    private struct Running {
        let daemon: OpaquePointer
        let context: Unmanaged<Context>
    }

    /// What the C callbacks reach through their context pointer.
    private final class Context: Sendable {
        let handler: any RequestHandler
        let unanswered: UnansweredRequests

        init(handler: any RequestHandler, unanswered: UnansweredRequests) {
            self.handler = handler
            self.unanswered = unanswered
        }
    }
}
