import Foundation
import Glibc
package import KiiPushCore

/// A broker that a test controls packet by packet, for faults that a real broker does not show.
///
/// The script runs on a separate thread, so that it may block without taking a thread from the tasks under test.
package final class FakeBroker: Sendable {
    package let port: UInt16
    private let listener: Int32

    package init() throws {
        (self.listener, self.port) = try FakeBroker.listening()
    }

    /// A listening socket, bound to its port by number. So it keeps the port while it does not listen.
    private static func listening() throws -> (descriptor: Int32, port: UInt16) {
        while true {
            let free = try Loopback.bound()
            close(free.descriptor)
            // Another process may have taken the port meanwhile.
            guard let socket = try? Loopback.bound(to: free.port) else { continue }
            guard listen(socket.descriptor, 1024) == 0 else {
                let number = errno
                close(socket.descriptor)
                throw TestFailure("port \(socket.port) of 127.0.0.1 cannot be listened on: errno \(number)")
            }
            return socket
        }
    }

    deinit { close(self.listener) }

    package func play<Result: Sendable>(_ script: @escaping @Sendable (FakeBroker) throws -> Result) async throws
        -> Result
    {
        try await onThread { try script(self) }
    }

    /// Accepts the next connection, resumes its session and sends these messages. Returns after their acknowledgements,
    /// which have to be in order.
    @discardableResult
    package func bring(_ messages: [MQTTPacket]) async throws -> FakeConnection {
        try await self.play { broker in
            let connection = try broker.acceptSession()
            for message in messages { try connection.send(message) }
            let sent = messages.compactMap { message -> UInt16? in
                if case .publish(let publish) = message { publish.packetID } else { nil }
            }
            let acknowledged = try connection.receiveAcknowledgements(messages.count)
            guard acknowledged == sent else { throw TestFailure("not \(sent) but \(acknowledged) were acknowledged") }
            return connection
        }
    }

    /// Refuses connections until ``comeBack()``, as a stopped broker does. The port stays reserved.
    package func goAway() { shutdown(self.listener, Int32(SHUT_RDWR)) }

    package func comeBack() throws {
        guard listen(self.listener, 1024) == 0 else { throw TestFailure("cannot listen again: errno \(errno)") }
    }

    package func accept() throws -> FakeConnection {
        let descriptor = Glibc.accept(self.listener, nil, nil)
        guard descriptor >= 0 else { throw TestFailure("nobody connected") }
        return FakeConnection(descriptor)
    }

    /// Waits for the next connection that stays open until SUBACK, and resumes its session. A client on a busy machine
    /// may give up and reconnect, and an earlier run may leave a connection that nobody accepted.
    package func acceptSession() throws -> FakeConnection {
        while true {
            let connection = try self.accept()
            do {
                try connection.open(sessionPresent: true)
                return connection
            } catch is FakeConnection.Closed {
                continue
            }
        }
    }
}

/// A connection to the fake broker. A wait of more than ten minutes fails the test.
package final class FakeConnection: Sendable {
    /// The client disconnected, or sent nothing for ten minutes.
    package struct Closed: Error {}

    private struct Incoming {
        var decoder = FrameDecoder()
        var packets: [MQTTPacket] = []
        /// `nil` without a WebSocket.
        var webSocket: WebSocketDecoder?

        mutating func take(_ bytes: inout [UInt8]) throws {
            var payload = bytes
            if self.webSocket != nil {
                payload = bytes.withUnsafeMutableBytes { Array(self.webSocket?.decode($0) ?? $0) }
            }
            self.packets += try self.decoder.packets(from: payload)
        }
    }

    private let descriptor: Int32
    private let incoming = Locked(Incoming())

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            var limit = timeval(tv_sec: 600, tv_usec: 0)
            setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
    }

    deinit { close(self.descriptor) }

    package func receive() throws -> MQTTPacket {
        while true {
            let packet = self.incoming.withLock { $0.packets.isEmpty ? nil : $0.packets.removeFirst() }
            if let packet { return packet }
            var bytes = try self.readSome()
            try self.incoming.withLock { try $0.take(&bytes) }
        }
    }

    private func readSome() throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = read(self.descriptor, &buffer, buffer.count)
        guard count > 0 else { throw Closed() }
        return Array(buffer[..<count])
    }

    /// Reads the client's request for a WebSocket, which carries all later packets.
    ///
    /// - Returns: the answer that opens the WebSocket.
    package func receiveUpgrade() throws -> [UInt8] {
        var handshake = WebSocketServerHandshake()
        while true {
            switch try self.readSome().withUnsafeBytes({ handshake.read($0) }) {
            case nil: continue
            case .refused(let answer): throw TestFailure(String(decoding: answer, as: UTF8.self))
            case .opened(let answer, _):
                self.incoming.withLock { $0.webSocket = WebSocketDecoder(role: .server) }
                return answer
            }
        }
    }

    package func upgrade() throws { try self.send(bytes: self.receiveUpgrade()) }

    package func send(_ packets: MQTTPacket...) throws {
        var bytes: [UInt8] = []
        for packet in packets { try packet.encode(into: &bytes) }
        if self.incoming.withLock({ $0.webSocket }) != nil {
            let payload = bytes
            bytes = []
            WebSocketFrame.append(.binary, payload, mask: nil, to: &bytes)
        }
        try self.send(bytes: bytes)
    }

    package func send(bytes: [UInt8]) throws {
        // A blocking socket sends all, unless the connection is gone or the client has not read for ten minutes.
        guard Glibc.send(self.descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
            throw Closed()
        }
    }

    /// Sends `bytes` repeatedly until more than `limit` are sent and the socket has had no room for some seconds.
    ///
    /// - Returns: the number of sent bytes.
    /// - Throws: ``Closed``.
    package func fill(with bytes: [UInt8], beyond limit: Int, patience seconds: Int32 = 1) throws -> Int {
        let flags = fcntl(self.descriptor, F_GETFL)
        _ = fcntl(self.descriptor, F_SETFL, flags | O_NONBLOCK)
        defer { _ = fcntl(self.descriptor, F_SETFL, flags) }
        var total = 0
        while true {
            var entry = pollfd(fd: self.descriptor, events: Int16(POLLOUT), revents: 0)
            guard poll(&entry, 1, seconds * 1000) > 0 else {
                // Below the limit, the client may only be delayed.
                guard total <= limit else { return total }
                continue
            }
            let rest = total % bytes.count
            let count = bytes[rest...].withUnsafeBytes {
                Glibc.send(self.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Closed() }
            total += count
        }
    }

    /// Resets the connection. The peer loses data that it has not read.
    package func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(self.descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        // /dev/null takes over the descriptor's number, which `deinit` then closes once.
        let replacement = Glibc.open("/dev/null", O_RDWR | O_CLOEXEC)
        dup2(replacement, self.descriptor)
        close(replacement)
    }

    /// Drops every further packet from the client, without acknowledging it, as a dead machine would. A socket filter
    /// does that. Sent packets still arrive.
    package func goDark() {
        // One instruction, "return 0": BPF_RET | BPF_K, classic BPF (linux/filter.h).
        var instruction: UInt64 = 0x06
        withUnsafeMutablePointer(to: &instruction) { pointer in
            var program = (length: UInt64(1), filter: UInt64(UInt(bitPattern: pointer)))
            let size = socklen_t(MemoryLayout.size(ofValue: program))
            let code = setsockopt(self.descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &program, size)
            precondition(code == 0, "no filter can be attached: \(String(cString: strerror(errno)))")
        }
    }

    /// Plays the packets from CONNECT to SUBACK.
    @discardableResult
    package func open(sessionPresent: Bool = false, granted: QoS = .atLeastOnce) throws -> MQTTConnect {
        guard case .connect(let connect) = try self.receive() else {
            throw TestFailure("the first packet was no CONNECT")
        }
        try self.send(.connack(MQTTConnack(sessionPresent: sessionPresent, code: .accepted)))
        switch try self.receive() {
        case .subscribe(let subscribe):
            try self.send(.suback(MQTTSuback(packetID: subscribe.packetID, grants: [granted])))
            return connect
        case .disconnect: throw Closed()
        default: throw TestFailure("CONNACK was not followed by SUBSCRIBE")
        }
    }

    /// The packet identifiers of the next acknowledgements. A PINGREQ in between is answered.
    package func receiveAcknowledgements(_ count: Int) throws -> [UInt16] {
        var identifiers: [UInt16] = []
        while identifiers.count < count {
            switch try self.receive() {
            case .puback(let identifier): identifiers.append(identifier)
            case .pingreq: try self.send(.pingresp)
            case let packet: throw TestFailure("unexpected \(packet)")
            }
        }
        return identifiers
    }
}

/// Runs `body` with a state directory that names the fake broker as the agent's endpoint, as if the agent had
/// registered.
package func withFakeBroker(
    in directory: String,
    inbox: PushRuntime.Configuration.Inbox = .file,
    configure: (inout PushRuntime.Configuration) -> Void = { _ in },
    _ body: (FakeBroker, PushRuntime, PushAgent.Configuration) async throws -> Void
) async throws {
    let broker = try FakeBroker()
    try AgentStateFixture(port: broker.port, topic: "topic-1", username: "name", password: "password")
        .write(to: directory)
    var settings = PushRuntime.Configuration.patient(stateDirectory: directory)
    settings.inbox = inbox
    configure(&settings)
    let runtime = try PushRuntime(configuration: settings)
    var configuration = PushAgent.Configuration(app: AgentStateFixture.app, account: .pseudoUser)
    configuration.usesTLS = false
    // This broker answers PINGREQ only if a test says so.
    configuration.keepAlive = .seconds(600)
    try await body(broker, runtime, configuration)
    await runtime.shutdown()
}

/// Runs `body` with a fake broker and a temporary state directory that names it.
package func withFakeBroker(
    configure: (inout PushRuntime.Configuration) -> Void = { _ in },
    _ body: (FakeBroker, PushRuntime, PushAgent.Configuration) async throws -> Void
) async throws {
    try await withTemporaryDirectory { try await withFakeBroker(in: $0, configure: configure, body) }
}

extension MQTTPacket {
    /// A push of `{"n": number}` at QoS 1, on the topic of ``withFakeBroker(in:_:)``.
    package static func message(
        _ number: Int, packetID: UInt16, retain: Bool = false, duplicate: Bool = false
    ) -> MQTTPacket {
        .publish(
            MQTTPublish(
                topic: "topic-1", payload: Array("{\"n\":\(number)}".utf8), qos: .atLeastOnce, retain: retain,
                duplicate: duplicate, packetID: packetID))
    }
}
