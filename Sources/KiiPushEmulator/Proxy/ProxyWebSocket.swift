import KiiPushCore

struct ProxyWebSocket {
    /// The time limit for the TLS handshake and the request together.
    static let patience = Duration.seconds(10)

    private var handshake: WebSocketServerHandshake? = WebSocketServerHandshake()
    private var decoder = WebSocketDecoder(role: .server)
    private var hasClosed = false

    var isAwaited: Bool { self.handshake != nil }

    /// Returns `nil` while the request is incomplete, and after the request.
    mutating func readRequest(_ bytes: [UInt8]) -> WebSocketServerHandshake.Outcome? {
        let outcome = bytes.withUnsafeBytes { self.handshake?.read($0) }
        if case .opened = outcome { self.handshake = nil }
        return outcome
    }

    /// The MQTT bytes in these frames, and the answers to control frames.
    mutating func unwrap(_ bytes: [UInt8]) -> (mqtt: [UInt8], answer: [UInt8]) {
        guard !self.isAwaited else { return ([], []) }
        var bytes = bytes
        let mqtt = bytes.withUnsafeMutableBytes { Array(self.decoder.decode($0)) }
        var answer: [UInt8] = []
        if !self.hasClosed, let ping = self.decoder.takePing() {
            WebSocketFrame.append(.pong, ping, mask: nil, to: &answer)
        }
        if let end = self.decoder.end, !self.hasClosed {
            let reason = end.error.code == .webSocketFailed ? end.error.detail : ""
            let payload = end.answer.map { WebSocketFrame.closePayload($0, reason: reason) } ?? []
            answer += self.close(payload)
        }
        return (mqtt, answer)
    }

    var end: (words: String, isFault: Bool)? {
        self.decoder.end.map { ($0.error.detail, $0.error.code == .webSocketFailed) }
    }

    /// The frame that closes the WebSocket; empty if the WebSocket is closed or not open yet.
    mutating func close(_ payload: [UInt8]) -> [UInt8] {
        guard !self.hasClosed, !self.isAwaited else { return [] }
        self.hasClosed = true
        var frame: [UInt8] = []
        WebSocketFrame.append(.close, payload, mask: nil, to: &frame)
        return frame
    }

    static func wrap(_ mqtt: ArraySlice<UInt8>) -> [UInt8] {
        var frame: [UInt8] = []
        WebSocketFrame.appendHeader(.binary, length: mqtt.count, mask: nil, to: &frame)
        return frame + mqtt
    }

    static func words(of answer: [UInt8]) -> String {
        let text = String(decoding: answer, as: UTF8.self)
        let status = text.prefix { $0 != "\r\n" }.split(separator: " ").dropFirst().joined(separator: " ")
        let sentence = text.split(separator: "\r\n").last ?? ""
        return "answered \(status): \(sentence.filter { $0 != "\n" })"
    }
}
