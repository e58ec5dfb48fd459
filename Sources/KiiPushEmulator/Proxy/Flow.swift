import Glibc
import KiiPushCore

/// One direction of a proxied connection.
struct Flow {
    private struct Chunk {
        var bytes: ArraySlice<UInt8>
        var due: MonotonicInstant
    }

    let direction: Direction
    private var decoder = FrameDecoder(maximumPacketBytes: MQTTFixedHeader.maximumRemainingLength)
    /// Whether the stream passes unchanged, because it is TLS or invalid MQTT.
    private var isOpaque = false
    var isSwallowed = false
    private var queue: [Chunk] = []

    init(_ direction: Direction) { self.direction = direction }

    /// Returns `nil` if the bytes pass unchanged.
    mutating func packets(from bytes: [UInt8]) -> [ProxyPacket]? {
        guard !self.isOpaque else { return nil }
        var packets: [ProxyPacket] = []
        do throws(MQTTError) {
            try self.decoder.decode(bytes.span.bytes) { (header, body) throws(MQTTError) in
                packets.append(ProxyPacket(header: header, body: body))
            }
            return packets
        } catch {
            self.isOpaque = true
            return nil
        }
    }

    mutating func enqueue(_ bytes: ArraySlice<UInt8>, after delay: Duration) {
        guard !bytes.isEmpty else { return }
        let due = MonotonicInstant.now() + delay
        if delay == .zero, let last = self.queue.indices.last, self.queue[last].due <= due {
            self.queue[last].bytes += bytes
        } else {
            self.queue.append(Chunk(bytes: bytes, due: due))
        }
    }

    mutating func release() {
        let now = MonotonicInstant.now()
        for index in self.queue.indices { self.queue[index].due = min(self.queue[index].due, now) }
    }

    var isEmpty: Bool { self.queue.isEmpty }

    var due: MonotonicInstant? { self.queue.first?.due }

    /// Sends the due bytes, or drops all bytes if `socket` is `nil`. Returns `false` if the socket is broken.
    mutating func send(to socket: ProxySocket?, byteByByte: Bool) -> Bool {
        guard let socket else {
            self.queue.removeAll()
            return true
        }
        while let chunk = self.queue.first, chunk.due <= .now() {
            let count = socket.send(byteByByte ? chunk.bytes.prefix(1) : chunk.bytes)
            guard count > 0 else { return errno == EAGAIN }
            if count == chunk.bytes.count {
                self.queue.removeFirst()
            } else {
                self.queue[0].bytes = chunk.bytes.dropFirst(count)
            }
            // A pause between two bytes lets the other side read each byte separately.
            if byteByByte { return true }
        }
        return true
    }
}
