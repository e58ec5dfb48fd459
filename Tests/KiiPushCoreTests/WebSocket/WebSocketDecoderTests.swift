import KiiPushCore
import Testing

/// Section numbers refer to RFC 6455.
@Suite struct WebSocketDecoderTests {
    struct Result: Equatable {
        var payload: [UInt8] = []
        var ping: [UInt8]?
        var end: String?
        var answer: UInt16?
    }

    static func decode(_ pieces: [[UInt8]], as role: WebSocketRole = .client) -> Result {
        var decoder = WebSocketDecoder(role: role)
        var result = Result()
        for piece in pieces {
            var piece = piece
            piece.withUnsafeMutableBytes { result.payload += decoder.decode($0) }
            result.ping = decoder.takePing() ?? result.ping
        }
        result.end = decoder.end?.error.detail
        result.answer = decoder.end?.answer
        return result
    }

    /// The examples of section 5.7, and the frames of an MQTT stream.
    static let good: [(name: String, role: WebSocketRole, bytes: [UInt8], result: Result)] = [
        ("one frame", .client, [0x82, 0x03, 1, 2, 3], Result(payload: [1, 2, 3])),
        (
            "a masked one", .server, [0x82, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58],
            Result(payload: Array("Hello".utf8))
        ),
        ("an empty one", .client, [0x82, 0x00], Result()),
        ("an empty one between others", .client, [0x82, 1, 7, 0x82, 0, 0x82, 2, 8, 9], Result(payload: [7, 8, 9])),
        (
            "fragments, and a ping between", .client,
            [0x02, 2, 1, 2, 0x89, 5, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0x00, 1, 3, 0x80, 2, 4, 5, 0x82, 1, 6],
            Result(payload: [1, 2, 3, 4, 5, 6], ping: Array("Hello".utf8))
        ),
        ("the last ping of two", .client, [0x89, 1, 1, 0x89, 2, 2, 3], Result(ping: [2, 3])),
        ("a pong that nobody asked for", .client, [0x8A, 1, 1, 0x82, 1, 4], Result(payload: [4])),
        ("a masked ping", .server, [0x89, 0x81, 1, 2, 3, 4, 6], Result(ping: [7])),
        (
            "two bytes of length", .client, [0x82, 126, 0x01, 0x00] + [UInt8](repeating: 5, count: 256),
            Result(payload: [UInt8](repeating: 5, count: 256))
        ),
        (
            "eight bytes of length", .client,
            [0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0] + [UInt8](repeating: 5, count: 65_536),
            Result(payload: [UInt8](repeating: 5, count: 65_536))
        ),
        (
            "a close without a code", .client, [0x82, 1, 9, 0x88, 0],
            Result(payload: [9], end: "the server closed the WebSocket without a code")
        ),
        (
            "a close with a reason", .client, [0x88, 5, 0x03, 0xE9] + "bye".utf8,
            Result(end: "the server closed the WebSocket with code 1001, it is going away: bye", answer: 1001)
        ),
        (
            "an application's code", .server, [0x88, 0x82, 0, 0, 0, 0, 0x0F, 0xA0],
            Result(end: "the client closed the WebSocket with code 4000", answer: 4000)
        ),
        (
            "a reason of several lines", .client, [0x88, 6, 0x03, 0xE8] + "a\r\nb".utf8,
            Result(end: "the server closed the WebSocket with code 1000, as usual: a  b", answer: 1000)
        ),
    ]

    @Test(arguments: Self.good.indices)
    func decodesAtEveryCut(index: Int) {
        let (name, role, bytes, result) = Self.good[index]
        #expect(Self.decode([bytes], as: role) == result, "\(name)")
        for cut in 0...min(bytes.count, 300) {
            #expect(
                Self.decode([Array(bytes[..<cut]), Array(bytes[cut...])], as: role) == result, "\(name), cut at \(cut)")
        }
        guard bytes.count < 300 else { return }
        #expect(Self.decode(bytes.map { [$0] }, as: role) == result, "\(name), byte by byte")
    }

    /// Each bad frame follows a valid frame, whose payload must be returned.
    static let bad: [(role: WebSocketRole, bytes: [UInt8], what: String, answer: UInt16)] = [
        (.client, [0x81, 1, 0x41], "a text frame, and MQTT takes binary ones", 1003),
        (.client, [0x82, 0x81, 0, 0, 0, 0, 1], "a masked frame", 1002),
        (.server, [0x82, 0x01, 1], "a frame without a mask", 1002),
        (.client, [0xC2, 1, 1], "a frame with reserved bits set", 1002),
        (.client, [0x92, 1, 1], "a frame with reserved bits set", 1002),
        (.client, [0x83, 0], "a frame of opcode 3, which does not exist", 1002),
        (.client, [0x8B, 0], "a frame of opcode 11, which does not exist", 1002),
        (.client, [0x09, 0], "a fragmented ping frame", 1002),
        (.client, [0x08, 0], "a fragmented close frame", 1002),
        (.client, [0x89, 126, 0, 126], "a ping frame of more than 125 bytes", 1002),
        (.client, [0x8A, 127, 0, 0, 0, 0, 0, 0, 0, 1], "a pong frame of more than 125 bytes", 1002),
        // Section 5.2: a length must take the minimal number of bytes.
        (.client, [0x82, 126, 0, 125], "a frame whose length has more bytes than it needs", 1002),
        (.server, [0x82, 0xFE, 0, 0, 0, 0, 0, 0], "a frame whose length has more bytes than it needs", 1002),
        (.client, [0x82, 127, 0, 0, 0, 0, 0, 0, 255, 255], "a frame whose length has more bytes than it needs", 1002),
        (.client, [0x80, 1, 1], "a continuation of nothing", 1002),
        (.client, [0x02, 1, 1, 0x82, 1, 2], "a message within another one", 1002),
        (
            .client, [0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0],
            "a frame of 9223372036854775808 bytes, and at most 268435460 are taken", 1009
        ),
        (
            .client, [0x82, 127, 0, 0, 0, 0, 0x10, 0, 0, 5],
            "a frame of 268435461 bytes, and at most 268435460 are taken", 1009
        ),
        (
            .client, [0x02, 1, 1, 0x80, 127, 0, 0, 0, 0, 0x10, 0, 0, 4],
            "a frame of 268435460 bytes after 1 of the same message, and at most 268435460 are taken", 1009
        ),
        (.client, [0x88, 1, 3], "a close frame of one byte", 1002),
        (.client, [0x88, 2, 0x03, 0xED], "a close frame of code 1005", 1002),
        (.client, [0x88, 2, 0, 0], "a close frame of code 0", 1002),
        (.client, [0x88, 3, 0x03, 0xE8, 0xFF], "a close frame whose reason is not UTF-8", 1007),
    ]

    @Test(arguments: Self.bad.indices)
    func namesWhatCame(index: Int) {
        let (role, bytes, what, answer) = Self.bad[index]
        let first: [UInt8] = role == .client ? [0x82, 2, 7, 8] : [0x82, 0x82, 0, 0, 0, 0, 7, 8]
        let all = first + bytes + [0x82, 1, 9]
        let peer = role == .client ? "the server" : "the client"
        for cut in 0...all.count {
            let result = Self.decode([Array(all[..<cut]), Array(all[cut...])], as: role)
            #expect(result.payload.starts(with: [7, 8]) && !result.payload.contains(9), "cut at \(cut)")
            #expect(result.end == "\(peer) broke the WebSocket protocol: it sent \(what)", "cut at \(cut)")
            #expect(result.answer == answer)
        }
    }

    @Test func bytesAfterTheCloseAreNamed() {
        let result = Self.decode([[0x88, 0, 0x82, 1, 9]])
        #expect(result == Result(end: "the server closed the WebSocket without a code; and it sent 3 bytes after that"))
    }

    @Test func payloadStaysWhereTheSocketPutIt() {
        var bytes: [UInt8] = [0x82, 2, 1, 2]
        var decoder = WebSocketDecoder(role: .client)
        bytes.withUnsafeMutableBytes { bytes in
            let payload = decoder.decode(bytes)
            #expect(payload.baseAddress == bytes.baseAddress.map { $0 + 2 })
        }
    }

    @Test(arguments: [0, 1, 125, 126, 65_535, 65_536, 100_003])
    func whatOneEndWritesTheOtherReads(length: Int) {
        let payload = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        for (role, mask) in [(WebSocketRole.client, nil), (.server, 0xA1B2_C3D4 as UInt32)] {
            var bytes: [UInt8] = []
            WebSocketFrame.append(.binary, payload, mask: mask, to: &bytes)
            for cut in [0, 1, 2, 5, 9, 13, bytes.count / 2, bytes.count] where cut <= bytes.count {
                let result = Self.decode([Array(bytes[..<cut]), Array(bytes[cut...])], as: role)
                #expect(result == Result(payload: payload))
            }
        }
    }

    @Test func theMaskIsThatOfTheStandard() {
        var bytes: [UInt8] = []
        WebSocketFrame.append(.text, Array("Hello".utf8), mask: 0x3D21_FA37, to: &bytes)
        #expect(bytes == [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58])
    }
}
