/// The client's half of the opening handshake (RFC 6455 section 4.1).
package struct WebSocketClientHandshake: Sendable {
    /// The path of MQTT over WebSocket on Kii's brokers and most others.
    package static let path = "/mqtt"

    package let request: [UInt8]
    private let accept: String
    private var head = HandshakeHead()

    /// - Parameters:
    ///   - host: an IPv6 address has no brackets.
    ///   - key: 16 random bytes.
    package init(host: String, port: UInt16, usesTLS: Bool, key: [UInt8], fields: [HTTPField] = []) {
        let key = Base64.encode(key)
        let name = host.contains(":") ? "[\(host)]" : host
        let isDefault = port == (usesTLS ? 443 : 80)
        let all =
            [
                HTTPField("Host", isDefault ? name : "\(name):\(port)"), HTTPField("Upgrade", "websocket"),
                HTTPField("Connection", "Upgrade"), HTTPField("Sec-WebSocket-Key", key),
                HTTPField("Sec-WebSocket-Version", "13"),
                HTTPField("Sec-WebSocket-Protocol", WebSocketWords.subprotocol),
            ] + fields
        let lines = ["GET \(WebSocketClientHandshake.path) HTTP/1.1"] + all.map { "\($0.name): \($0.value)" }
        self.request = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
        self.accept = WebSocketWords.accept(key)
    }

    /// - Returns: the number of `bytes` that belong to the answer once it has opened the WebSocket; `nil` before.
    /// - Throws: ``TransportError`` with code `webSocketFailed` for a wrong answer.
    package mutating func read(_ bytes: UnsafeRawBufferPointer) throws(TransportError) -> Int? {
        let taken = self.head.append(bytes)
        guard self.head.mayBeHTTP else { throw self.refusal("with something other than HTTP") }
        guard !self.head.isTooLong else {
            throw self.refusal("with more than \(HandshakeHead.maximumBytes) bytes of header")
        }
        guard let taken else { return nil }
        let fields = self.head.fields()
        let words = self.head.startLine
        guard words.count >= 2, words[1] == "101" else {
            throw self.refusal("with " + self.status(words, fields))
        }
        guard fields.list("Upgrade", has: "websocket"), fields.list("Connection", has: "upgrade") else {
            throw self.refusal("without the fields Upgrade and Connection of a WebSocket")
        }
        guard fields.list("Sec-WebSocket-Accept") == [self.accept] else {
            throw self.refusal("with no Sec-WebSocket-Accept for the key that it was sent")
        }
        let subprotocols = fields.list("Sec-WebSocket-Protocol")
        guard subprotocols == [WebSocketWords.subprotocol] else {
            let other = subprotocols.joined(separator: ", ").onOneLine
            throw self.refusal(
                subprotocols.isEmpty ? "without the subprotocol mqtt" : "with the subprotocol \(other), and not mqtt")
        }
        if let extensionName = fields.list("Sec-WebSocket-Extensions").first {
            throw self.refusal("with the extension \(extensionName.onOneLine), which was not offered")
        }
        return taken
    }

    private func status(_ words: [String], _ fields: [HTTPField]) -> String {
        let notes = ["Content-Type", "Location"].compactMap { name in
            fields.first { $0.isNamed(name) }.map { "\(name): \($0.value.onOneLine)" }
        }
        let status = words.dropFirst().joined(separator: " ").onOneLine
        return (["\(status.isEmpty ? "no status" : status)"] + notes).joined(separator: "; ")
    }

    private func refusal(_ what: String) -> TransportError {
        TransportError(.webSocketFailed, detail: "the server answered the WebSocket upgrade \(what)")
    }
}
