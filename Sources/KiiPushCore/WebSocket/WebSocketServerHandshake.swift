/// The server's half of the opening handshake (RFC 6455 section 4.2).
package struct WebSocketServerHandshake: Sendable {
    package enum Outcome: Sendable, Hashable {
        /// Send `answer`; the WebSocket is then open. The request ends after `taken` bytes of the last input; frames
        /// follow.
        case opened(answer: [UInt8], taken: Int)
        /// Send `answer`, then close the connection.
        case refused(answer: [UInt8])
    }

    private var head = HandshakeHead()

    package init() {}

    /// Returns `nil` while the request is incomplete.
    package mutating func read(_ bytes: UnsafeRawBufferPointer) -> Outcome? {
        let taken = self.head.append(bytes)
        guard !self.head.isTooLong else {
            return Self.refusal(431, "The request has more than \(HandshakeHead.maximumBytes) bytes of header.")
        }
        guard let taken else { return nil }
        let words = self.head.startLine
        guard words.count == 3, words[2] == "HTTP/1.1" else { return Self.refusal(400, "This is not HTTP/1.1.") }
        guard words[0] == "GET" else { return Self.refusal(405, "A WebSocket begins with GET.") }
        guard words[1].prefix(while: { $0 != "?" }) == WebSocketClientHandshake.path else {
            return Self.refusal(404, "MQTT over WebSocket is at \(WebSocketClientHandshake.path).")
        }
        let fields = self.head.fields()
        guard fields.list("Host").count == 1 else { return Self.refusal(400, "The request has to name one Host.") }
        guard fields.list("Upgrade", has: "websocket"), fields.list("Connection", has: "upgrade") else {
            return Self.refusal(426, "This is for WebSocket clients: ask with Upgrade: websocket.")
        }
        guard fields.list("Sec-WebSocket-Version") == ["13"] else {
            return Self.refusal(426, "The version of WebSocket is 13.")
        }
        let keys = fields.list("Sec-WebSocket-Key")
        guard keys.count == 1, Base64.decode(keys[0])?.count == 16 else {
            return Self.refusal(400, "Sec-WebSocket-Key has to be 16 bytes in Base64.")
        }
        guard fields.list("Sec-WebSocket-Protocol").contains(WebSocketWords.subprotocol) else {
            return Self.refusal(400, "Ask for the subprotocol mqtt.")
        }
        let answer = """
            HTTP/1.1 101 Switching Protocols\r
            Upgrade: websocket\r
            Connection: Upgrade\r
            Sec-WebSocket-Accept: \(WebSocketWords.accept(keys[0]))\r
            Sec-WebSocket-Protocol: \(WebSocketWords.subprotocol)\r
            \r

            """
        return .opened(answer: Array(answer.utf8), taken: taken)
    }

    private static func refusal(_ status: Int, _ sentence: String) -> Outcome {
        .refused(answer: Self.answer(status, sentence))
    }

    /// An answer that refuses the upgrade.
    package static func answer(_ status: Int, _ sentence: String) -> [UInt8] {
        let reasons = [
            400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed", 408: "Request Timeout",
            426: "Upgrade Required", 431: "Request Header Fields Too Large", 503: "Service Unavailable",
        ]
        let body = sentence + "\n"
        // RFC 9110 requires Allow with 405 (section 15.5.6) and Upgrade with 426 (15.5.22). RFC 6455 section 4.4
        // requires the version.
        let required = [405: "Allow: GET\r\n", 426: "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"]
        let answer = """
            HTTP/1.1 \(status) \(reasons[status] ?? "")\r
            \(required[status] ?? "")Content-Type: text/plain\r
            Content-Length: \(body.utf8.count)\r
            Connection: close\r
            \r
            \(body)
            """
        return Array(answer.utf8)
    }
}
