import KiiPushCore
import Testing

/// Section numbers refer to RFC 6455.
@Suite struct WebSocketHandshakeTests {
    /// The key of section 1.3.
    static let key = Array("the sample nonce".utf8)
    static let accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

    static func upgrade(
        host: String = "push.example", port: UInt16 = 12470, usesTLS: Bool = false
    ) -> WebSocketClientHandshake {
        WebSocketClientHandshake(host: host, port: port, usesTLS: usesTLS, key: Self.key)
    }

    /// The error for an answer that arrives in two pieces; `nil` if the answer is incomplete or opens the WebSocket.
    static func refusal(_ answer: String, cut: Int) -> TransportError? {
        var upgrade = Self.upgrade()
        let bytes = Array(answer.utf8)
        do throws(TransportError) {
            for piece in [Array(bytes[..<cut]), Array(bytes[cut...])] { _ = try Self.read(piece, &upgrade) }
            return nil
        } catch {
            return error
        }
    }

    static func read(_ bytes: [UInt8], _ upgrade: inout WebSocketClientHandshake) throws(TransportError) -> Int? {
        let read = { (bytes: UnsafeRawBufferPointer) throws(TransportError) -> Int? in try upgrade.read(bytes) }
        return try bytes.span.bytes.withUnsafeBytes(read)
    }

    static func answer(_ fields: [String], status: String = "101 Switching Protocols") -> String {
        (["HTTP/1.1 \(status)"] + fields).joined(separator: "\r\n") + "\r\n\r\n"
    }

    static let fields = [
        "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Accept: \(accept)", "Sec-WebSocket-Protocol: mqtt",
    ]

    @Test func theRequestIsThatOfTheStandard() {
        let text = String(decoding: Self.upgrade().request, as: UTF8.self)
        #expect(
            text == """
                GET /mqtt HTTP/1.1\r
                Host: push.example:12470\r
                Upgrade: websocket\r
                Connection: Upgrade\r
                Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
                Sec-WebSocket-Version: 13\r
                Sec-WebSocket-Protocol: mqtt\r
                \r

                """)
    }

    @Test(
        arguments: [
            ("push.example", 443, true, "push.example"), ("push.example", 443, false, "push.example:443"),
            ("push.example", 80, false, "push.example"), ("2001:db8::1", 8443, true, "[2001:db8::1]:8443"),
        ] as [(String, UInt16, Bool, String)])
    func theHostIsNamedAsInAURL(host: String, port: UInt16, usesTLS: Bool, name: String) {
        let request = String(decoding: Self.upgrade(host: host, port: port, usesTLS: usesTLS).request, as: UTF8.self)
        #expect(request.contains("\r\nHost: \(name)\r\n"))
    }

    @Test func anAnswerIsReadAtEveryCutAndLeavesTheFrames() throws {
        let answer = Array(
            Self.answer(["upgrade: WebSocket", "CONNECTION: keep-alive, Upgrade"] + Self.fields[2...]).utf8)
        let all = answer + [0x82, 0]
        for cut in 0...all.count {
            var upgrade = Self.upgrade()
            let first = try Self.read(Array(all[..<cut]), &upgrade)
            guard cut < answer.count else {
                #expect(first == answer.count)
                continue
            }
            #expect(first == nil)
            #expect(try Self.read(Array(all[cut...]), &upgrade) == answer.count - cut)
        }
    }

    static let refusals: [(answer: String, what: String)] = [
        (answer(["Content-Type: text/html"], status: "200 OK") + "<html>", "with 200 OK; Content-Type: text/html"),
        (
            answer(["Location: https://p.example/"], status: "301 Moved Permanently"),
            "with 301 Moved Permanently; Location: https://p.example/"
        ),
        (answer([], status: "401 Unauthorized"), "with 401 Unauthorized"),
        (answer([], status: "403 Forbidden"), "with 403 Forbidden"),
        (answer([], status: "426 Upgrade Required"), "with 426 Upgrade Required"),
        ("HTTP/1.1\r\n\r\n", "with no status"),
        ("<!doctype html>", "with something other than HTTP"),
        ("\u{20}\u{2}\r\n", "with something other than HTTP"),
        (answer(Array(fields[1...])), "without the fields Upgrade and Connection of a WebSocket"),
        (answer([fields[0]] + fields[2...]), "without the fields Upgrade and Connection of a WebSocket"),
        (
            answer(fields[..<2] + ["Sec-WebSocket-Accept: AAAA", fields[3]]),
            "with no Sec-WebSocket-Accept for the key that it was sent"
        ),
        (answer(fields[..<2] + [fields[3]]), "with no Sec-WebSocket-Accept for the key that it was sent"),
        (answer(Array(fields[..<3])), "without the subprotocol mqtt"),
        (
            answer(fields[..<3] + ["Sec-WebSocket-Protocol: mqttv3.1"]), "with the subprotocol mqttv3.1, and not mqtt"
        ),
        (
            answer(fields + ["Sec-WebSocket-Extensions: permessage-deflate"]),
            "with the extension permessage-deflate, which was not offered"
        ),
        (answer(["X: " + String(repeating: "x", count: 16_384)]), "with more than 16384 bytes of header"),
    ]

    @Test(arguments: Self.refusals.indices)
    func anotherAnswerIsNamed(index: Int) {
        let (answer, what) = Self.refusals[index]
        for cut in 0..<min(answer.utf8.count, 300) {
            let error = Self.refusal(answer, cut: cut)
            #expect(error?.detail == "the server answered the WebSocket upgrade \(what)", "cut at \(cut)")
            #expect(error?.code == .webSocketFailed)
        }
    }

    @Test func aServerOpensAndAnswersWithTheStandardsAccept() throws {
        let request = Self.upgrade().request + [0x82, 0x80, 0, 0, 0, 0]
        for cut in 0..<request.count {
            var handshake = WebSocketServerHandshake()
            let pieces = [Array(request[..<cut]), Array(request[cut...])]
            let outcomes = pieces.map { piece in piece.withUnsafeBytes { handshake.read($0) } }
            let outcome = try #require(outcomes[0] ?? outcomes[1])
            guard case .opened(let answer, let taken) = outcome else {
                Issue.record("refused, cut at \(cut)")
                continue
            }
            #expect(String(decoding: answer, as: UTF8.self) == Self.answer(Self.fields))
            #expect(taken == Self.upgrade().request.count - (outcomes[0] == nil ? cut : 0))
        }
    }

    @Test(arguments: [
        ("GET /mqtt HTTP/1.1", "POST /mqtt HTTP/1.1", "405 Method Not Allowed"),
        ("GET /mqtt HTTP/1.1", "GET /chat HTTP/1.1", "404 Not Found"),
        ("GET /mqtt HTTP/1.1", "\u{16}\u{3}\u{1}", "400 Bad Request"),
        ("Host: ", "X-Host: ", "400 Bad Request"), ("Host: ", "Host: other\r\nHost: ", "400 Bad Request"),
        ("Upgrade: websocket", "Accept: */*", "426 Upgrade Required"),
        ("Version: 13", "Version: 8", "426 Upgrade Required"),
        ("Key: dGhl", "Key: dGh", "400 Bad Request"), ("Protocol: mqtt", "Protocol: chat", "400 Bad Request"),
        ("Host: ", "X: \(String(repeating: "x", count: 20_000))", "431 Request Header Fields Too Large"),
    ])
    func aServerRefusesWithASentence(part: String, other: String, status: String) throws {
        let request = String(decoding: Self.upgrade().request, as: UTF8.self)
        let parts = request.split(separator: part, maxSplits: 1, omittingEmptySubsequences: false)
        let bytes = Array((parts[0] + other + parts[1]).utf8)
        var handshake = WebSocketServerHandshake()
        guard case .refused(let answer) = bytes.withUnsafeBytes({ handshake.read($0) }) else {
            Issue.record("not refused")
            return
        }
        let text = String(decoding: answer, as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 \(status)\r\n"))
        // RFC 9110, section 15.5.6.
        #expect(text.contains("\r\nAllow: GET\r\n") == status.hasPrefix("405"))
    }

    @Test(arguments: [
        // RFC 3174, section 7.3.
        ("abc", 1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
        ("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1, "84983e441c3bd26ebaae4aa1f95129e5e54670f1"),
        ("a", 1_000_000, "34aa973cd4c4daa4f61eeb2bdbad27316534016f"),
        (
            "0123456701234567012345670123456701234567012345670123456701234567", 10,
            "dea356a2cddd90c7a7ecedc5ebb563934f460452"
        ),
        // Results of `sha1sum` around the end of a block.
        ("", 1, "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
        ("a", 55, "c1c8bbdc22796e28c0e15163d20899b65621d65a"), ("a", 56, "c2db330f6083854c99d4b5bfb6e8f29f201be699"),
    ])
    func digestsAreThoseOfTheStandard(text: String, times: Int, digest: String) {
        let bytes = SHA1.digest(Array(String(repeating: text, count: times).utf8))
        #expect(bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() == digest)
    }
}
