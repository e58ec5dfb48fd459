import Foundation
import Glibc
import KiiPushCore
import TestSupport

/// A server that receives forwarded messages. It answers each request as a test says, and keeps the requests.
final class HookServer: Sendable {
    struct Request: Sendable {
        /// The request line, then one field a line.
        var head: [String]
        var body: [UInt8]

        func field(_ name: String) -> String? {
            let start = name.lowercased() + ":"
            return self.head.dropFirst().first { $0.lowercased().hasPrefix(start) }
                .map { $0.dropFirst(start.count).trimmingCharacters(in: .whitespaces) }
        }
    }

    enum Body: Sendable {
        case none
        case endless
        /// The announced body never comes.
        case missing
        /// The connection ends in the middle of the announced body.
        case cut

        var field: String {
            switch self {
            case .none: "Content-Length: 0\r\n"
            case .endless: ""
            case .missing, .cut: "Content-Length: 10\r\n"
            }
        }
    }

    let port: UInt16
    private let listener: Int32
    private let seen = Locked<[Request]>([])
    private let answer: @Sendable (Request) -> String?

    /// Starts the server. `answer` returns the status and fields, such as `204 No Content`, one field a line; with
    /// `nil` the request gets no answer.
    init(body: Body = .none, answer: @escaping @Sendable (Request) -> String?) throws {
        (self.listener, self.port) = try Loopback.listening()
        self.answer = answer
        Thread.detachNewThread { [listener, weak self] in
            while true {
                let descriptor = accept(listener, nil, nil)
                // `deinit` shuts the listener down; this thread does not keep the object alive.
                guard descriptor >= 0 else { break }
                Thread.detachNewThread { [weak self] in
                    HookServer.serve(descriptor, body) { self?.respond(to: $0) }
                }
            }
            close(listener)
        }
    }

    deinit { shutdown(self.listener, Int32(SHUT_RDWR)) }

    var requests: [Request] { self.seen.withLock { $0 } }

    private func respond(to request: Request) -> String? {
        self.seen.withLock { $0.append(request) }
        return self.answer(request)
    }

    private static func serve(_ descriptor: Int32, _ body: Body, _ respond: (Request) -> String?) {
        defer { close(descriptor) }
        var unread = Data()
        let end = Data("\r\n\r\n".utf8)
        while true {
            if let range = unread.range(of: end) {
                let head = String(decoding: unread[..<range.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
                var request = Request(head: head, body: [])
                let length = request.field("Content-Length").flatMap { Int($0) } ?? 0
                if unread.distance(from: range.upperBound, to: unread.endIndex) >= length {
                    request.body = [UInt8](unread[range.upperBound...].prefix(length))
                    unread = Data(unread[range.upperBound...].dropFirst(length))
                    if let answer = respond(request) {
                        let lines = answer.replacingOccurrences(of: "\n", with: "\r\n")
                        let bytes = Array("HTTP/1.1 \(lines)\r\n\(body.field)\r\n".utf8)
                        guard send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else { return }
                        if case .cut = body { return }
                        if case .endless = body {
                            while send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) > 0 {}
                            return
                        }
                    }
                    continue
                }
            }
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return }
            unread += buffer[..<count]
        }
    }
}
