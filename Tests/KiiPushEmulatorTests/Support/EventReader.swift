import KiiPushCore

/// Reads `/__kii/events` as a browser does. Blocks.
final class EventReader {
    struct Event: Sendable {
        var id: Int64?
        var kind: String
        var data: JSONValue
    }

    /// The answer; of one that goes on, its head.
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

    /// The next event; `nil` at the end.
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
            // A comment has no kind.
            guard let kind = value("event") else { continue }
            return Event(
                id: value("id").flatMap { Int64($0) }, kind: kind, data: try JSONValue(parsing: value("data") ?? ""))
        }
    }

    /// The next events until one that `isLast`, it included.
    func events(until isLast: (Event) -> Bool) throws -> [Event] {
        var events: [Event] = []
        while let event = try self.next() {
            events.append(event)
            if isLast(event) { break }
        }
        return events
    }

    /// Takes in the next chunks; `false` at the last one, and when the connection is closed.
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
