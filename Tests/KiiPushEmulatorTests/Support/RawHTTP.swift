import Dispatch
import Glibc
import KiiPushCore
import TestSupport

struct RawAnswer: Sendable {
    var status: Int
    var head: String
    var fields: [HTTPField]
    var body: [UInt8]

    func field(_ name: String) -> String? {
        self.fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// The body as JSON; null if it is none.
    var json: JSONValue { (try? JSONValue(parsing: self.body)) ?? .null }
    /// The media type without its parameters.
    var mediaType: String? { self.field("Content-Type").map { String($0.prefix { $0 != ";" }) } }
}

/// A request written byte by byte, so that the test controls every byte on the wire.
enum RawHTTP {
    struct Failure: Error {
        var what: String
    }

    /// Sends `text` and reads one answer.
    static func exchange(port: UInt16, _ text: String) async throws -> RawAnswer {
        try await withCheckedThrowingContinuation { continuation in
            // The exchange blocks, so it has its own queue.
            DispatchQueue(label: "raw-http").async {
                continuation.resume(
                    with: Result {
                        let connection = try RawConnection(port: port)
                        try connection.send(Array(text.utf8))
                        return try connection.receive(isHead: text.hasPrefix("HEAD "))
                    }
                )
            }
        }
    }

    /// An HTTP/1.1 request with `Connection: close`.
    static func request(_ method: String, _ path: String, _ fields: [String], _ body: String? = nil) -> String {
        var lines = ["\(method) \(path) HTTP/1.1", "Host: 127.0.0.1", "Connection: close"] + fields
        if let body { lines.append("Content-Length: \(body.utf8.count)") }
        return lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? "")
    }
}

/// A blocking connection to 127.0.0.1.
final class RawConnection {
    private let descriptor: Int32
    private var input: [UInt8] = []

    init(port: UInt16) throws {
        guard let descriptor = Loopback.connected(to: port) else {
            throw RawHTTP.Failure(what: "nobody listens on port \(port)")
        }
        self.descriptor = descriptor
        // A missing answer fails the test after ten minutes instead of hanging it.
        var patience = timeval(tv_sec: 600, tv_usec: 0)
        setsockopt(self.descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(self.descriptor) }

    func send(_ bytes: [UInt8]) throws {
        var start = 0
        while start < bytes.count {
            let count = bytes[start...].withUnsafeBytes {
                Glibc.send(self.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw RawHTTP.Failure(what: "send: errno \(errno)") }
            start += count
        }
    }

    /// Reads one answer; later bytes remain for the next call.
    func receive(isHead: Bool = false) throws -> RawAnswer {
        var end: Int?
        while end == nil {
            end = self.endOfHead()
            if end == nil, try !self.read() { throw RawHTTP.Failure(what: "closed within the head") }
        }
        let head = String(decoding: self.input[..<(end ?? 0)], as: UTF8.self)
        self.input.removeFirst(end ?? 0)
        let lines = head.split(separator: "\r\n")
        let fields = lines.dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return HTTPField(String(parts[0]), parts.count == 2 ? String(parts[1].drop { $0 == " " }) : "")
        }
        var answer = RawAnswer(status: 0, head: head, fields: Array(fields), body: [])
        answer.status = lines.first.flatMap { Int($0.split(separator: " ").dropFirst().first ?? "") } ?? 0
        let length = isHead || answer.status == 204 ? 0 : answer.field("Content-Length").flatMap { Int($0) } ?? 0
        while self.input.count < length {
            guard try self.read() else { throw RawHTTP.Failure(what: "closed within the body") }
        }
        answer.body = Array(self.input[..<length])
        self.input.removeFirst(length)
        return answer
    }

    /// Waits for the next bytes, at least one.
    func receiveBytes() throws -> [UInt8] {
        guard try !self.input.isEmpty || self.read() else { throw RawHTTP.Failure(what: "closed") }
        defer { self.input = [] }
        return self.input
    }

    /// Whether the server closes the connection without an answer. Throws if the server does neither.
    func isClosedBeforeAnswer() throws -> Bool { try self.input.isEmpty && !self.read() }

    /// Reads once; `true` if the server has closed the connection.
    func isClosedByPeer() throws -> Bool { try !self.read() }

    private func endOfHead() -> Int? {
        guard self.input.count >= 4 else { return nil }
        for index in 0...(self.input.count - 4) where self.input[index..<index + 4].elementsEqual([13, 10, 13, 10]) {
            return index + 4
        }
        return nil
    }

    private func read() throws -> Bool {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = recv(self.descriptor, &chunk, chunk.count, 0)
        if count < 0, errno == ECONNRESET { return false }
        guard count >= 0 else { throw RawHTTP.Failure(what: "receive: errno \(errno)") }
        self.input += chunk[..<count]
        return count > 0
    }
}
