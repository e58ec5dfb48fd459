import CMicroHTTPD
import Glibc
import KiiPushCore

/// One request and its answer. Used only on the server's thread.
final class Exchange {
    private let target: String
    private var head: IncomingRequest?
    private var body: [UInt8] = []
    private var isTooLarge = false
    private var pending: PendingAnswer?

    init(target: String) { self.target = target }

    var wasHandled: Bool { self.pending != nil }

    /// libmicrohttpd calls this with the head, each piece of the body, the end of the body, and after a resumption.
    func advance(
        connection: sending OpaquePointer, method: UnsafePointer<CChar>, upload: UnsafeRawBufferPointer,
        uploadSize: UnsafeMutablePointer<Int>, server: HTTPServer.Context
    ) -> MHD_Result {
        guard var request = self.head else {
            let head = IncomingRequest(
                method: String(cString: method), target: self.target, fields: Exchange.fields(of: connection), body: [])
            self.head = head
            guard head.isForThisMachine else { return Exchange.queue(KiiFailure.misdirected.response, on: connection) }
            guard head.isSameOrigin else { return Exchange.queue(KiiFailure.foreignOrigin.response, on: connection) }
            // Checked before the client sends the body, so that a client with `Expect: 100-continue` need not send it.
            let length = head.field("Content-Length").flatMap { Int($0) }
            guard let length, length > HTTPServer.maximumBodyBytes else { return .YES }
            return Exchange.queue(KiiFailure.bodyTooLarge(limit: HTTPServer.maximumBodyBytes).response, on: connection)
        }
        if !upload.isEmpty {
            self.isTooLarge = self.isTooLarge || self.body.count + upload.count > HTTPServer.maximumBodyBytes
            if self.isTooLarge { self.body = [] } else { self.body.append(contentsOf: upload) }
            uploadSize.pointee = 0
            return .YES
        }
        if let pending { return pending.queueOrSuspend() }
        request.body = self.body
        request.isBodyTooLarge = self.isTooLarge
        request.isSecure = server.isSecure
        self.body = []
        let pending = PendingAnswer(on: connection)
        self.pending = pending
        server.unanswered.withLock { $0 += 1 }
        server.handle(request, pending)
        return pending.queueOrSuspend()
    }

    /// `nil` makes libmicrohttpd close the connection.
    static func queue(_ answer: HTTPResponse?, on connection: OpaquePointer) -> MHD_Result {
        guard let answer else { return .NO }
        let response = answer.body.withUnsafeBytes { bytes in
            MHD_create_response_from_buffer(
                bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
        }
        guard let response else { return .NO }
        defer { MHD_destroy_response(response) }
        for field in answer.fields { MHD_add_response_header(response, field.name, field.value) }
        return MHD_queue_response(connection, UInt32(answer.status), response)
    }

    private static func fields(of connection: OpaquePointer) -> [HTTPField] {
        var fields: [HTTPField] = []
        withUnsafeMutablePointer(to: &fields) { pointer in
            let take: MHD_KeyValueIterator = { context, _, name, value in
                guard let context, let name else { return .YES }
                let field = HTTPField(String(cString: name), value.map { String(cString: $0) } ?? "")
                context.assumingMemoryBound(to: [HTTPField].self).pointee.append(field)
                return .YES
            }
            _ = MHD_get_connection_values(connection, .HEADER_KIND, take, pointer)
        }
        return fields
    }
}
