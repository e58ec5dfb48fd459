/// Splits a byte stream into packets.
///
/// The decoder passes on a packet in place if the input has all of it, and buffers an incomplete packet. It cuts a
/// PUBLISH above the limit: it skips the rest and passes on the first bytes, so that the message can be acknowledged
/// and set aside. Any other packet above the limit is an error.
package struct FrameDecoder: Sendable {
    private enum Progress {
        case betweenFrames
        case header
        /// `keeping` is the number of bytes to collect in `kept`.
        case body(MQTTFixedHeader, keeping: Int)
        /// `kept` is complete. `left` bytes of the body are still to be skipped.
        case skipping(MQTTFixedHeader, left: Int)
    }

    /// 256 KiB. Kii's limit for a payload is 4,096 bytes.
    package static let defaultMaximumPacketBytes = 262_144

    /// Decides which flags are permitted. A server sets the version after CONNECT.
    package var version: MQTTVersion
    private let maximumPacketBytes: Int
    private var progress = Progress.betweenFrames
    private var kept: [UInt8] = []

    package init(version: MQTTVersion = .v3_1_1, maximumPacketBytes: Int = FrameDecoder.defaultMaximumPacketBytes) {
        self.version = version
        // A cut PUBLISH needs two bytes for the length of its topic.
        self.maximumPacketBytes = max(2, maximumPacketBytes)
    }

    package var keptBytes: Int { self.kept.count }

    /// Calls `receive` for each complete packet, in order. After an error the decoder is unusable.
    ///
    /// The span of a cut PUBLISH is shorter than the header's `remainingLength`, but has at least topic and packet
    /// identifier.
    package mutating func decode(
        _ input: RawSpan, _ receive: (MQTTFixedHeader, RawSpan) throws(MQTTError) -> Void
    ) throws(MQTTError) {
        var position = 0
        while true {
            switch self.progress {
            case .betweenFrames:
                guard try self.receiveWholeFrames(input, at: &position, receive) else { return }
            case .header:
                guard position < input.byteCount else { return }
                self.keep(input, from: &position, upTo: self.kept.count + 1)
                var end = 0
                guard let header = try MQTTFixedHeader.parse(self.kept.span.bytes, at: &end, version: self.version)
                else { continue }
                self.kept.removeAll(keepingCapacity: true)
                try self.begin(header)
            case .body(let header, let keeping):
                self.keep(input, from: &position, upTo: keeping)
                guard self.kept.count == keeping else { return }
                self.progress = self.afterBody(header)
            case .skipping(let header, let left):
                let skipped = min(left, input.byteCount - position)
                position += skipped
                guard skipped == left else {
                    self.progress = .skipping(header, left: left - skipped)
                    return
                }
                try receive(header, self.kept.span.bytes)
                self.kept.removeAll(keepingCapacity: self.kept.capacity <= 4096)
                self.progress = .betweenFrames
            }
        }
    }

    private mutating func receiveWholeFrames(
        _ input: RawSpan, at position: inout Int, _ receive: (MQTTFixedHeader, RawSpan) throws(MQTTError) -> Void
    ) throws(MQTTError) -> Bool {
        while position < input.byteCount {
            guard let header = try MQTTFixedHeader.parse(input, at: &position, version: self.version) else {
                self.keep(input, from: &position, upTo: input.byteCount)
                self.progress = .header
                return false
            }
            let end = position + header.remainingLength
            guard end <= input.byteCount, header.remainingLength <= self.maximumPacketBytes else {
                try self.begin(header)
                return true
            }
            try receive(header, input.extracting(position..<end))
            position = end
        }
        return false
    }

    private mutating func begin(_ header: MQTTFixedHeader) throws(MQTTError) {
        guard header.remainingLength <= self.maximumPacketBytes || header.type == .publish else {
            throw MQTTError(
                .tooLarge(length: header.remainingLength, maximum: self.maximumPacketBytes), in: header.type)
        }
        self.progress = .body(header, keeping: min(header.remainingLength, self.maximumPacketBytes))
    }

    /// A cut PUBLISH may need more bytes for its topic and packet identifier: up to 65,539 bytes.
    private func afterBody(_ header: MQTTFixedHeader) -> Progress {
        guard self.kept.count < header.remainingLength else { return .skipping(header, left: 0) }
        let variableHeader = 2 + Int(self.kept[0]) << 8 + Int(self.kept[1]) + 2
        let needed = min(variableHeader, header.remainingLength)
        guard needed <= self.kept.count else { return .body(header, keeping: needed) }
        return .skipping(header, left: header.remainingLength - self.kept.count)
    }

    private mutating func keep(_ input: RawSpan, from position: inout Int, upTo count: Int) {
        let taken = min(count - self.kept.count, input.byteCount - position)
        input.extracting(position..<position + taken).withUnsafeBytes { self.kept.append(contentsOf: $0) }
        position += taken
    }
}
