import Foundation
import Glibc
import KiiPushCore
import KiiPushEmulator
import TestSupport
import Testing

/// A WebSocket client, plain or through `openssl s_client`, with which a test controls every byte on the wire.
final class WebSocketClient {
    /// The connection's two directions: one socket, or the pipes of `openssl`.
    private let input: FileHandle
    private let output: FileHandle
    private let process: Process?
    private let socket: Int32
    private var received: [UInt8] = []

    init(_ emulator: Emulator, tls: Bool = false) throws {
        guard tls else {
            guard let socket = Loopback.connected(to: emulator.webSocketPort) else {
                throw RawHTTP.Failure(what: "nobody listens for WebSocket")
            }
            self.socket = socket
            self.process = nil
            self.input = FileHandle(fileDescriptor: socket)
            self.output = self.input
            return
        }
        let (to, from, process) = (Pipe(), Pipe(), Process())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        process.arguments = [
            "s_client", "-quiet", "-verify_quiet", "-verify_return_error", "-CAfile",
            emulator.certificateAuthorityFile, "-verify_hostname", "localhost", "-connect",
            "127.0.0.1:\(emulator.webSocketTLSPort)",
        ]
        process.standardInput = to
        process.standardOutput = from
        process.standardError = FileHandle.nullDevice
        try process.run()
        self.process = process
        self.input = from.fileHandleForReading
        self.output = to.fileHandleForWriting
        self.socket = -1
    }

    deinit {
        if self.socket >= 0 { close(self.socket) }
        self.process?.terminate()
    }

    /// The opening request of Kii's clients for browsers.
    static func request(
        _ line: String = "GET /mqtt HTTP/1.1", leavingOut name: String? = nil, with fields: [String] = []
    ) -> String {
        let usual = [
            "Host: 127.0.0.1", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol: mqtt",
        ]
        let kept = usual.filter { field in name.map { !field.hasPrefix("\($0):") } ?? true }
        return ([line] + kept + fields).joined(separator: "\r\n") + "\r\n\r\n"
    }

    func send(_ text: String) throws { try self.send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) throws { try self.output.write(contentsOf: Data(bytes)) }

    /// Opens the WebSocket and returns the head of the server's answer.
    @discardableResult
    func open() throws -> String {
        try self.send(Self.request())
        let head = try self.head()
        try #require(head.hasPrefix("HTTP/1.1 101 "), "\(head)")
        return head
    }

    func head() throws -> String {
        var head = ""
        while !head.hasSuffix("\r\n\r\n") {
            guard let byte = try self.bytes(1).first else { throw RawHTTP.Failure(what: "closed within the head") }
            head.unicodeScalars.append(Unicode.Scalar(byte))
        }
        return head
    }

    /// The bytes until the server closes the connection.
    func rest() throws -> [UInt8] {
        while try self.read() {}
        defer { self.received = [] }
        return self.received
    }

    /// One frame of the server, neither masked nor fragmented.
    func frame() throws -> (opcode: UInt8, payload: [UInt8]) {
        let head = try self.bytes(2)
        guard head.count == 2 else { throw RawHTTP.Failure(what: "closed before a frame") }
        #expect(head[0] & 0xF0 == 0x80)
        #expect(head[1] & 0x80 == 0)
        var length = Int(head[1])
        if length == 126 { length = try self.bytes(2).reduce(0) { $0 << 8 | Int($1) } }
        if length == 127 { length = try self.bytes(8).reduce(0) { $0 << 8 | Int($1) } }
        return (head[0] & 0x0F, try self.bytes(length))
    }

    func send(_ opcode: WebSocketOpcode, _ payload: [UInt8]) throws {
        var bytes: [UInt8] = []
        WebSocketFrame.append(opcode, payload, mask: 0x1234_5678, to: &bytes)
        try self.send(bytes)
    }

    private func bytes(_ count: Int) throws -> [UInt8] {
        while self.received.count < count { guard try self.read() else { break } }
        defer { self.received.removeFirst(min(count, self.received.count)) }
        return Array(self.received.prefix(count))
    }

    private func read() throws -> Bool {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = Glibc.read(self.input.fileDescriptor, &chunk, chunk.count)
        guard count >= 0 else { throw RawHTTP.Failure(what: "receive: errno \(errno)") }
        self.received += chunk[..<count]
        return count > 0
    }
}

extension WebSocketClient {
    /// Opens the WebSocket, connects as `receiver`, and subscribes to its topic.
    func connect(_ receiver: Receiver, cleanSession: Bool = true) throws {
        try self.open()
        let connect = MQTTConnect(
            clientID: receiver.topic, cleanSession: cleanSession, keepAlive: 300, username: receiver.username,
            password: Secret(receiver.password))
        try self.send(.connect(connect))
        guard case .connack(let connack) = try self.packet() else { throw RawHTTP.Failure(what: "no CONNACK") }
        try #require(connack.code == .accepted)
        try self.send(
            .subscribe(MQTTSubscribe(packetID: 1, entries: [.init(filter: receiver.topic, qos: .atLeastOnce)])))
        guard case .suback = try self.packet() else { throw RawHTTP.Failure(what: "no SUBACK") }
    }

    /// Acknowledges the next message and returns its `n`.
    func receiveNumber() throws -> Int64? {
        guard case .publish(let publish) = try self.packet() else { throw RawHTTP.Failure(what: "no PUBLISH") }
        try self.send(.puback(packetID: try #require(publish.packetID)))
        return try JSONValue(parsing: publish.payload)["n"]?.int64
    }

    func send(_ packet: MQTTPacket) throws {
        var bytes: [UInt8] = []
        try packet.encode(into: &bytes)
        try self.send(.binary, bytes)
    }

    func packet() throws -> MQTTPacket {
        let frame = try self.frame()
        try #require(frame.opcode == 2, "a frame of opcode \(frame.opcode): \(frame.payload)")
        var decoder = FrameDecoder()
        return try #require(try decoder.packets(from: frame.payload).first)
    }
}
