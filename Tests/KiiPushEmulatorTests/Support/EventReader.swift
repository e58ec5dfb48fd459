import KiiPushCore

/// A blocking reader of `/__kii/events`, as browsers read it.
final class EventReader {
    struct Event: Sendable {
        var id: Int64?
        var kind: String
        var data: JSONValue
    }

    /// The answer; for a stream, only its head.
    let answer: RawAnswer
    private let connection: RawConnection
    private var chunks: [UInt8] = []
    private var text: [UInt8] = []

    init(port: UInt16, query: String = "", fields: [String] = []) throws {
        self.connection = try RawConnection(port: port)
        let lines = ["GET /__kii/events\(query) HTTP/1.1", "Host: 127.0.0.1:\(port)"] + fields
        try self.connection.send(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8))
        self.answer = try self.connection.receive()
    }

    /// Waits for the next event; `nil` at the end of the stream.
    func next() throws -> Event? {
        while true {
            guard let end = self.text.firstRange(of: Array("\n\n".utf8)) else {
                guard try self.read() else { return nil }
                continue
            }
            let lines = String(decoding: self.text[..<end.lowerBound], as: UTF8.self).split(separator: "\n")
            self.text.removeSubrange(..<end.upperBound)
            func value(_ name: String) -> String? {
                lines.first { $0.hasPrefix(name + ": ") }.map { String($0.dropFirst(name.count + 2)) }
            }
            // A comment of the stream has no `event` line.
            guard let kind = value("event") else { continue }
            return Event(
                id: value("id").flatMap { Int64($0) }, kind: kind, data: try JSONValue(parsing: value("data") ?? ""))
        }
    }

    /// The next events up to and with the first one for which `isLast` is true.
    func events(until isLast: (Event) -> Bool) throws -> [Event] {
        var events: [Event] = []
        while let event = try self.next() {
            events.append(event)
            if isLast(event) { break }
        }
        return events
    }

    /// Reads more chunks. Returns `false` after the last chunk and if the connection is closed.
    private func read() throws -> Bool {
        guard let more = try? self.connection.receiveBytes() else { return false }
        self.chunks += more
        while let end = self.chunks.firstIndex(of: UInt8(ascii: "\n")) {
            let digits = String(decoding: self.chunks[..<end].dropLast(), as: UTF8.self)
            guard let size = Int(digits, radix: 16) else { throw RawHTTP.Failure(what: "no chunk: \(digits)") }
            let after = end + 1 + size + 2
            guard self.chunks.count >= after else { return true }
            if size == 0 { return false }
            self.text += self.chunks[(end + 1)..<(end + 1 + size)]
            self.chunks.removeFirst(after)
        }
        return true
    }
}
