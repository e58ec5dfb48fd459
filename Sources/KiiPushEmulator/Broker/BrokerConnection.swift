import Glibc
import KiiPushCore

/// A connection of the emulator to its broker. The client ID is the emulator's own or, for a fault, that of a client.
final class BrokerConnection {
    private let socket: FileDescriptor
    private var decoder = FrameDecoder()
    private var unsent: [UInt8] = []
    private var buffer = [UInt8](repeating: 0, count: 16_384)

    private init(socket: FileDescriptor) { self.socket = socket }

    /// Connects and logs in. Blocks at most `patience` for the broker's answer.
    ///
    /// - Returns: `nil` if the broker does not listen, refuses or does not answer in time, or if the connection
    ///   breaks.
    static func open(
        port: UInt16, credential: BrokerCredential, clientID: String, cleanSession: Bool = true, patience: Duration
    ) throws(EmulatorError) -> BrokerConnection? {
        guard let socket = try LoopbackSocket.connected(to: port) else { return nil }
        socket.makeNonBlocking()
        let connection = BrokerConnection(socket: socket)
        // No keep alive: on the loopback interface a connection cannot be half open.
        let connect = MQTTConnect(
            clientID: clientID, cleanSession: cleanSession, keepAlive: 0, username: credential.username,
            password: credential.password)
        guard connection.send(.connect(connect)) else { return nil }
        let deadline = MonotonicInstant.now() + patience
        var code: ConnackCode?
        while code == nil {
            let left = deadline.millisecondsLeft
            guard left > 0 else { return nil }
            var entry = pollfd(fd: connection.descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, left) >= 0 || errno == EINTR else { return nil }
            // Later packets are dropped. A new session has none, and a kept session's messages stay unacknowledged, so
            // the broker sends them to the client again.
            let isOpen = connection.receive { packet in
                if case .connack(let connack) = packet { code = connack.code }
            }
            guard isOpen || code != nil else { return nil }
        }
        return code == .accepted ? connection : nil
    }

    var descriptor: Int32 { self.socket.number }

    var hasUnsentBytes: Bool { !self.unsent.isEmpty }

    func send(_ packet: MQTTPacket) -> Bool {
        do throws(MQTTError) {
            try packet.encode(into: &self.unsent)
        } catch {
            return false
        }
        return self.flush()
    }

    func send(_ bytes: [UInt8]) -> Bool {
        self.unsent += bytes
        return self.flush()
    }

    /// Returns `false` if the connection is broken.
    func flush() -> Bool {
        var sent = 0
        defer { self.unsent.removeFirst(sent) }
        while sent < self.unsent.count {
            let count = self.socket.send(self.unsent[sent...])
            if count < 0 { return errno == EAGAIN }
            sent += count
        }
        return true
    }

    /// Returns `false` when the connection has ended or the bytes are not MQTT.
    func receive(_ body: (MQTTPacket) -> Void) -> Bool {
        // The buffer moves to a local variable, since a span of a property must not outlive the access to the
        // property.
        var input: [UInt8] = []
        swap(&input, &self.buffer)
        defer { swap(&input, &self.buffer) }
        while true {
            let count = self.socket.receive(into: &input)
            if count < 0 { return errno == EAGAIN }
            guard count > 0 else { return false }
            do throws(MQTTError) {
                let received = input.span.bytes.extracting(first: count)
                try self.decoder.decode(received) { (header, bytes) throws(MQTTError) in
                    body(try MQTTPacket(header: header, body: bytes))
                }
            } catch {
                return false
            }
        }
    }
}
