import Glibc

/// `instructions decode|findings|frames|session|request PAYLOAD COUNT`: the work on COUNT messages, or on COUNT
/// requests that the payload answers, without a clock, a thread or a socket. `script/instructions` compiles this file
/// together with the few rooms that it needs. The script then counts the executed instructions, which are equal in
/// every run.
@main
enum Instructions {
    struct Failure: Error {
        var reason: String
    }

    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count == 3, let count = arguments.last.flatMap({ Int($0) }) else {
            throw Failure(reason: "usage: instructions decode|findings|frames|session|request PAYLOAD COUNT")
        }
        let payload = try self.read(arguments[2])
        let work =
            switch arguments[1] {
            case "decode": try self.decode(payload, count: count)
            case "frames": try self.frames(payload, count: count)
            case "session": try self.session(payload, count: count)
            case "findings": try self.findings(payload, count: count)
            case "request": try self.request(payload, count: count)
            default: throw Failure(reason: "no work is called \(arguments[1])")
            }
        // Printing the result keeps the compiler from removing the work.
        print(work)
    }

    private static func read(_ path: String) throws -> [UInt8] {
        guard let file = fopen(path, "r") else { throw Failure(reason: "cannot read \(path)") }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        bytes.removeSubrange(fread(&bytes, 1, bytes.count, file)...)
        return bytes
    }

    private static func decode(_ payload: [UInt8], count: Int) throws -> Int {
        var kinds = 0
        for _ in 0..<count { kinds += try ReceivedMessage(payload: payload).kind == .pushToUser ? 1 : 0 }
        return kinds
    }

    /// Finds problems in a message, as `listen` does with each message.
    private static func findings(_ payload: [UInt8], count: Int) throws -> Int {
        let message = try ReceivedMessage(payload: payload)
        return (0..<count).reduce(0) { sum, _ in sum + message.findings.count }
    }

    private static func request(_ payload: [UInt8], count: Int) throws -> Int {
        let request = HTTPRequest(
            method: "GET", url: "https://api.kii.com/api/apps/0123abcd/installations/0123456789abcdefghijklmno",
            fields: [HTTPField("Authorization", "Bearer 0123456789abcdef")])
        let lines = [
            "HTTP/1.1 200 OK\r\n", "Date: Mon, 16 May 2016 01:46:41 GMT\r\n", "Content-Type: application/json\r\n",
            "Content-Length: \(payload.count)\r\n", "\r\n",
        ].map { Array($0.utf8) }
        var fields = 0
        for _ in 0..<count {
            try request.validate()
            var head = ResponseHead()
            for line in lines { _ = line.withUnsafeBytes { head.append($0) } }
            fields += head.fields().count
        }
        return fields
    }

    private static func frames(_ payload: [UInt8], count: Int) throws -> Int {
        let stream = try self.stream(payload)
        var decoder = FrameDecoder()
        var (packets, bytes) = (0, 0)
        for index in 0..<count / self.packetsInStream {
            let cut = stream.count * (index % 7 + 1) / 9
            for piece in [0..<cut, cut..<stream.count] {
                try stream.span.bytes.extracting(piece).decode(with: &decoder) { body in
                    packets += 1
                    bytes += body.byteCount
                }
            }
        }
        return packets + bytes
    }

    /// The client's session at QoS 1: messages in and acknowledgements out, for each piece of the stream.
    private static func session(_ payload: [UInt8], count: Int) throws -> Int {
        let now = MonotonicInstant(nanoseconds: 0)
        var session = MQTTSession(configuration: .init(clientID: "bench", topicFilter: self.topic))
        var output = MQTTSession.Output()
        var answers: [UInt8] = []
        try MQTTPacket.connack(MQTTConnack(code: .accepted)).encode(into: &answers, version: .v3_1_1)
        try MQTTPacket.suback(MQTTSuback(packetID: 1, grants: [.atLeastOnce])).encode(into: &answers, version: .v3_1_1)
        session.transportConnected(now: now, into: &output)
        answers.withUnsafeBytes { session.received($0, now: now, into: &output) }
        guard session.isConnected else { throw Failure(reason: "the session does not stand") }
        let stream = try self.stream(payload)
        var bytes = 0
        for index in 0..<count / self.packetsInStream {
            output.removeAll()
            let cut = stream.count * (index % 7 + 1) / 9
            for piece in [stream[..<cut], stream[cut...]] {
                piece.withUnsafeBytes { session.received($0, now: now, into: &output) }
                guard let last = output.messages.last?.ticket else { continue }
                session.acknowledge(through: last, into: &output)
            }
            bytes += output.bytes.count + output.messages.count
        }
        return bytes
    }

    private static let topic = "bench/0123456789abcd"
    private static let packetsInStream = 250

    private static func stream(_ payload: [UInt8]) throws -> [UInt8] {
        var bytes: [UInt8] = []
        for index in 1...self.packetsInStream {
            let publish = MQTTPublish(
                topic: self.topic, payload: payload, qos: .atLeastOnce, packetID: UInt16(index))
            try MQTTPacket.publish(publish).encode(into: &bytes, version: .v3_1_1)
        }
        return bytes
    }
}

extension RawSpan {
    fileprivate func decode(with decoder: inout FrameDecoder, _ body: (RawSpan) -> Void) throws {
        try decoder.decode(self) { (_, span) throws(MQTTError) in body(span) }
    }
}
