import Glibc
import KiiPushCore

/// One direction of one connection: bytes are cut into packets, packets meet the proxy's rules, and what is left is
/// sent when its time has come.
struct Flow {
    /// A packet as it came.
    struct Packet {
        var header: MQTTFixedHeader
        var body: [UInt8]
        /// Without identifier, nothing was sent at QoS 1.
        var packetID: UInt16?
        /// The part of ``body`` that is a PUBLISH's payload.
        var payload: ArraySlice<UInt8> = []
        /// See ``MessageSerial``.
        var serial: Int?
    }

    private struct Chunk {
        var bytes: ArraySlice<UInt8>
        var due: MonotonicInstant
    }

    let direction: Direction
    private var decoder = FrameDecoder(maximumPacketBytes: MQTTFixedHeader.maximumRemainingLength)
    /// Whether the stream is no MQTT (TLS, or broken on purpose) and passes as it is.
    private var isOpaque = false
    /// Whether everything disappears, without a word to either side.
    var isSwallowed = false
    private var queue: [Chunk] = []

    init(_ direction: Direction) { self.direction = direction }

    /// The packets that these bytes complete; none when the bytes are to pass as they are.
    mutating func packets(from bytes: [UInt8]) -> [Packet]? {
        guard !self.isOpaque else { return nil }
        var packets: [Packet] = []
        do throws(MQTTError) {
            try self.decoder.decode(bytes.span.bytes) { (header, body) throws(MQTTError) in
                packets.append(Packet(header: header, body: body))
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

    var isEmpty: Bool { self.queue.isEmpty }

    /// When the next bytes are to be sent.
    var due: MonotonicInstant? { self.queue.first?.due }

    /// Sends what is due and the socket takes, one byte where bytes are split; `false` when the socket is broken. What is
    /// for a socket that is gone (negative) disappears.
    mutating func send(to descriptor: Int32, byteByByte: Bool) -> Bool {
        guard descriptor >= 0 else {
            self.queue.removeAll()
            return true
        }
        while let chunk = self.queue.first, chunk.due <= .now() {
            let length = byteByByte ? 1 : chunk.bytes.count
            let count = chunk.bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, length, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return errno == EAGAIN || errno == EINTR }
            if count == chunk.bytes.count {
                self.queue.removeFirst()
            } else {
                self.queue[0].bytes = chunk.bytes.dropFirst(count)
            }
            // The other side gets the time to read each byte alone.
            if byteByByte { return true }
        }
        return true
    }
}

extension Flow.Packet {
    init(header: MQTTFixedHeader, body: RawSpan) {
        self.header = header
        self.body = body.withUnsafeBytes { Array($0) }
        switch header.type {
        case .publish:
            guard let layout = try? MQTTPublishLayout(header: header, body: body) else { return }
            self.packetID = layout.packetID
            self.payload = self.body[layout.payload]
        case .puback where self.body.count == 2, .pubrec where self.body.count == 2:
            self.packetID = UInt16(self.body[0]) << 8 | UInt16(self.body[1])
        default: break
        }
    }

    /// The packet with another identifier.
    mutating func renumber(_ identifier: UInt16) {
        guard self.packetID != nil else { return }
        let position = self.header.type == .publish ? self.payload.startIndex - 2 : 0
        self.body[position] = UInt8(identifier >> 8)
        self.body[position + 1] = UInt8(identifier & 0xFF)
        self.packetID = identifier
    }

    /// Reads the payload's serial and blanks it out.
    mutating func takeSerial() {
        guard self.header.type == .publish else { return }
        self.serial = MessageSerial.take(from: &self.payload)
        self.body.replaceSubrange(self.payload.indices, with: self.payload)
    }

    /// DUP of a PUBLISH.
    var isMarkedDuplicate: Bool { self.header.flags & 0b1000 != 0 }

    /// The bytes to send.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        // The length came from a header, so it fits into one.
        try? self.header.encode(into: &bytes)
        return bytes + self.body
    }
}
