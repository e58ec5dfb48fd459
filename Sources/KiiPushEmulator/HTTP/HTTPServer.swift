import CMicroHTTPD
import Glibc
import KiiPushCore

final class HTTPServer: Sendable {
    /// Handles a request on the server's thread. The handler answers once, from any thread, now or later.
    typealias Handler = @Sendable (IncomingRequest, PendingAnswer) -> Void

    static let maximumBodyBytes = 1 << 20
    private static let idleTimeoutSeconds: UInt32 = 120
    /// Enough for a fleet of receivers. Further clients wait until a connection ends.
    private static let maximumConnections: UInt32 = 10_000
    /// The time limit for clients that are still reading their answer when the server stops.
    private static let stopPatience = Duration.seconds(2)
    static let hasTLS = cmhd_has_tls()

    private let running: Locked<(daemon: OpaquePointer, context: Unmanaged<Context>)?>

    init(
        _ listener: FileDescriptor, certificates: Certificates? = nil, handler: @escaping Handler
    ) throws(EmulatorError) {
        let identity = try certificates?.serverIdentity()
        let closing = try ClosingConnections()
        // libmicrohttpd closes this copy of the descriptor.
        let descriptor = fcntl(listener.number, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { throw .system("start the HTTP server", errno) }
        let context = Unmanaged.passRetained(
            Context(handle: handler, isSecure: identity != nil, closing: closing))
        let daemon = cmhd_start(
            descriptor, HTTPServer.idleTimeoutSeconds, HTTPServer.maximumConnections, identity?.key.reveal(),
            identity?.certificate,
            { context, connection, _, method, _, upload, uploadSize, exchange in
                guard let context, let connection, let method, let uploadSize, let raw = exchange?.pointee else {
                    return .NO
                }
                // No reference is released here: stop() releases the context, and the completion callback releases the
                // exchange.
                return Unmanaged<Exchange>.fromOpaque(raw).takeUnretainedValue().advance(
                    connection: connection, method: method,
                    upload: UnsafeRawBufferPointer(start: upload, count: uploadSize.pointee), uploadSize: uploadSize,
                    server: Unmanaged<Context>.fromOpaque(context).takeUnretainedValue())
            },
            { _, uri, _ in
                // The completion callback releases the exchange.
                Unmanaged.passRetained(Exchange(target: uri.map { String(cString: $0) } ?? "/")).toOpaque()
            },
            { context, _, exchange, _ in
                guard let context, let exchange, let raw = exchange.pointee else { return }
                let ended = Unmanaged<Exchange>.fromOpaque(raw).takeRetainedValue()
                exchange.pointee = nil
                guard ended.wasHandled else { return }
                let unanswered = Unmanaged<Context>.fromOpaque(context).takeUnretainedValue().unanswered
                unanswered.withLock { $0 -= 1 }
                unanswered.signal()
            },
            { context, connection, _, notice in
                guard notice == .CONNECTION_NOTIFY_CLOSED, let context, let connection else { return }
                Unmanaged<Context>.fromOpaque(context).takeUnretainedValue().closing.take(cmhd_socket(connection))
            },
            context.toOpaque()
        )
        guard let daemon else {
            close(descriptor)
            context.release()
            guard let certificates else { throw .system("start the HTTP server", errno) }
            throw EmulatorError(.certificatesFailed, "HTTPS does not start with those in \(certificates.directory)")
        }
        self.running = Locked((daemon, context))
    }

    /// Blocks until the server's thread has ended. All handlers must have answered before, since libmicrohttpd may
    /// close waiting connections at once.
    func stop() {
        let running = self.running.withLock { running in
            let taken = running
            running = nil
            return taken
        }
        guard let running else { return }
        let deadline = MonotonicInstant.now() + HTTPServer.stopPatience
        running.context.takeUnretainedValue().unanswered.wait { count in
            count == 0 || deadline <= .now() ? .leave(()) : .sleep(until: deadline)
        }
        MHD_stop_daemon(running.daemon)
        running.context.release()
    }

    deinit { self.stop() }

    final class Context: Sendable {
        let handle: Handler
        let isSecure: Bool
        /// The number of handled requests whose answers have not been sent completely.
        let unanswered = Monitor(0)
        let closing: ClosingConnections

        init(handle: @escaping Handler, isSecure: Bool, closing: ClosingConnections) {
            self.handle = handle
            self.isSecure = isSecure
            self.closing = closing
        }
    }
}
