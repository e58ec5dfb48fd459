import SeededNumbers
import Testing

@testable import KiiPushCore

@Suite struct FrameDecoderTests {
    struct Frame: Equatable {
        var type: MQTTPacketType
        var remainingLength: Int
        var body: [UInt8]
    }

    static func frames(
        from chunks: [[UInt8]], decoder: inout FrameDecoder
    ) throws(MQTTError) -> [Frame] {
        var frames: [Frame] = []
        for chunk in chunks {
            try decoder.decode(chunk.span.bytes) { (header, body) throws(MQTTError) in
                frames.append(
                    Frame(
                        type: header.type,
                        remainingLength: header.remainingLength,
                        body: body.withUnsafeBytes { Array($0) }))
            }
        }
        return frames
    }

    static let stream: [UInt8] = GoldenPacket.all.filter { $0.version == .v3_1_1 }.flatMap(\.bytes)
    static let packets: [MQTTPacket] = GoldenPacket.all.filter { $0.version == .v3_1_1 }.map(\.packet)

    @Test func decodesAStreamAtEverySplit() throws {
        for split in 0...Self.stream.count {
            var decoder = FrameDecoder()
            let packets =
                try decoder.packets(from: Array(Self.stream[..<split]))
                + decoder.packets(from: Array(Self.stream[split...]))
            #expect(packets == Self.packets, "split at \(split)")
            #expect(decoder.keptBytes == 0)
        }
    }

    @Test(arguments: 1...11)
    func decodesAStreamInSmallPieces(size: Int) throws {
        var decoder = FrameDecoder()
        var packets: [MQTTPacket] = []
        for start in stride(from: 0, to: Self.stream.count, by: size) {
            packets += try decoder.packets(from: Array(Self.stream[start..<min(start + size, Self.stream.count)]))
        }
        #expect(packets == Self.packets)
    }

    /// The boundaries of table 2.4.
    @Test(
        arguments: [
            (0, [0x00]), (127, [0x7F]), (128, [0x80, 0x01]), (16_383, [0xFF, 0x7F]), (16_384, [0x80, 0x80, 0x01]),
            (2_097_151, [0xFF, 0xFF, 0x7F]), (2_097_152, [0x80, 0x80, 0x80, 0x01]),
            (268_435_455, [0xFF, 0xFF, 0xFF, 0x7F]),
        ] as [(Int, [UInt8])])
    func remainingLengthsAreThoseOfTheTable(length: Int, bytes: [UInt8]) throws {
        let header = MQTTFixedHeader(type: .publish, flags: 0, remainingLength: length)
        var encoded: [UInt8] = []
        try header.encode(into: &encoded)
        #expect(encoded == [0x30] + bytes)
        var position = 0
        #expect(try MQTTFixedHeader.parse(encoded.span.bytes, at: &position, version: .v3_1_1) == header)
        #expect(position == encoded.count)
        for end in 0..<encoded.count {
            var start = 0
            let prefix = Array(encoded[..<end])
            #expect(try MQTTFixedHeader.parse(prefix.span.bytes, at: &start, version: .v3_1_1) == nil)
            #expect(start == 0)
        }
    }

    @Test func noLengthIsLargerThanFourBytes() {
        var bytes: [UInt8] = []
        #expect(throws: MQTTError(.tooLarge(length: 268_435_456, maximum: 268_435_455), in: .publish)) {
            try MQTTFixedHeader(type: .publish, flags: 0, remainingLength: 268_435_456).encode(into: &bytes)
        }
    }

    @Test(
        arguments: [
            [0x30, 0x80, 0x80, 0x80, 0x80], [0x30, 0xFF, 0xFF, 0xFF, 0xFF], [0x30, 0x80, 0x80, 0x80, 0x80, 0x01],
            [0x30, 0xFF, 0xFF, 0xFF, 0x80, 0x00],
        ] as [[UInt8]])
    func refusesALengthOfFiveBytes(_ bytes: [UInt8]) {
        for split in 0..<5 {
            var decoder = FrameDecoder()
            #expect(throws: MQTTError(.remainingLengthTooLong, in: .publish)) {
                try Self.frames(from: [Array(bytes[..<split]), Array(bytes[split...])], decoder: &decoder)
            }
        }
    }

    @Test func takesALengthInMoreBytesThanItNeeds() throws {
        var decoder = FrameDecoder()
        #expect(try decoder.packets(from: [0xD0, 0x80, 0x80, 0x00]) == [.pingresp])
    }

    @Test(arguments: [0x00, 0x0F, 0xF0, 0xFF] as [UInt8])
    func refusesReservedTypesAtTheirFirstByte(first: UInt8) {
        var decoder = FrameDecoder()
        #expect(throws: MQTTError(.reservedPacketType(first >> 4))) { try decoder.packets(from: [first]) }
    }

    @Test func recognisesAnHTTPServerAtItsFirstByte() {
        var decoder = FrameDecoder()
        #expect(throws: MQTTError(.flags(8), in: .puback)) { try decoder.packets(from: Array("HTTP/1.1 400".utf8)) }
    }

    @Test func keepsNothingOfWholeFrames() throws {
        var decoder = FrameDecoder()
        let packet: [UInt8] = [0x30, 4, 0, 1, 0x61, 0x2A]
        #expect(try Self.frames(from: [packet + packet + packet.prefix(5)], decoder: &decoder).count == 2)
        #expect(decoder.keptBytes == 3)
    }

    @Test func framesBeforeAnErrorAreHandedOn() {
        var decoder = FrameDecoder()
        let bytes: [UInt8] = [0xD0, 0, 0x40, 2, 0, 1, 0x00, 0]
        var types: [MQTTPacketType] = []
        #expect(throws: MQTTError(.reservedPacketType(0))) {
            try decoder.decode(bytes.span.bytes) { (header, _) throws(MQTTError) in
                types.append(header.type)
            }
        }
        #expect(types == [.pingresp, .puback])
    }

    // MARK: - Limits

    static func publish(topic: String, payload: [UInt8], packetID: UInt16) throws -> [UInt8] {
        var bytes: [UInt8] = []
        let publish = MQTTPublish(topic: topic, payload: payload, qos: .atLeastOnce, packetID: packetID)
        try MQTTPacket.publish(publish).encode(into: &bytes)
        return bytes
    }

    @Test func cutsAnOversizedPublishAtEverySplit() throws {
        let large = try Self.publish(topic: "topic", payload: (0..<60).map { UInt8($0) }, packetID: 7)
        let bytes = large + [0xD0, 0]
        for split in 0...bytes.count {
            var decoder = FrameDecoder(maximumPacketBytes: 20)
            let frames = try Self.frames(from: [Array(bytes[..<split]), Array(bytes[split...])], decoder: &decoder)
            try #require(frames.count == 2)
            #expect(frames[0].remainingLength == 69)
            #expect(frames[0].body == Array(large[2..<22]))
            #expect(frames[1] == Frame(type: .pingresp, remainingLength: 0, body: []))
        }
    }

    @Test func aPublishAtTheLimitIsWhole() throws {
        let bytes = try Self.publish(topic: "topic", payload: [UInt8](repeating: 1, count: 11), packetID: 7)
        var decoder = FrameDecoder(maximumPacketBytes: 20)
        #expect(try Self.frames(from: [bytes], decoder: &decoder).map(\.body.count) == [20])
    }

    @Test func aCutPublishKeepsItsTopicAndPacketIdentifier() throws {
        let bytes = try Self.publish(topic: String(repeating: "t", count: 300), payload: [1, 2, 3], packetID: 0x0102)
        for size in [1, 7, bytes.count] {
            var decoder = FrameDecoder(maximumPacketBytes: 2)
            let chunks = stride(from: 0, to: bytes.count, by: size).map {
                Array(bytes[$0..<min($0 + size, bytes.count)])
            }
            let frames = try Self.frames(from: chunks, decoder: &decoder)
            #expect(frames.map(\.body) == [Array(bytes[3..<3 + 304])])
        }
    }

    @Test func aCutPublishWhoseTopicNeverEndsIsKeptToItsEnd() throws {
        var decoder = FrameDecoder(maximumPacketBytes: 4)
        let frames = try Self.frames(from: [[0x30, 6, 0xFF, 0xFF, 1, 2, 3, 4]], decoder: &decoder)
        #expect(frames == [Frame(type: .publish, remainingLength: 6, body: [0xFF, 0xFF, 1, 2, 3, 4])])
    }

    @Test func skipsWithoutStoring() throws {
        var decoder = FrameDecoder(maximumPacketBytes: 1000)
        let head: [UInt8] = [0x30, 0xFF, 0xFF, 0xFF, 0x7F, 0, 1, 0x61]
        let filler = [UInt8](repeating: 0x2A, count: 1 << 20)
        #expect(try Self.frames(from: [head], decoder: &decoder).isEmpty)
        for _ in 0..<255 { #expect(try Self.frames(from: [filler], decoder: &decoder).isEmpty) }
        #expect(decoder.keptBytes == 1000)
        let rest = [UInt8](repeating: 0x2A, count: 268_435_455 - 3 - 255 << 20)
        #expect(try Self.frames(from: [rest], decoder: &decoder).map(\.body.count) == [1000])
        #expect(decoder.keptBytes == 0)
    }

    @Test(arguments: MQTTPacketType.allCases.filter { $0 != .publish })
    func anyOtherOversizedPacketIsAnError(_ type: MQTTPacketType) {
        let first = type.rawValue << 4 | (type.fixedFlags ?? 0)
        var decoder = FrameDecoder(maximumPacketBytes: 100)
        #expect(throws: MQTTError(.tooLarge(length: 101, maximum: 100), in: type)) {
            try decoder.packets(from: [first, 101])
        }
    }

    @Test func aCutPublishIsNoPacket() throws {
        let bytes = try Self.publish(topic: "a", payload: [UInt8](repeating: 0, count: 30), packetID: 1)
        var decoder = FrameDecoder(maximumPacketBytes: 10)
        #expect(throws: MQTTError(.tooLarge(length: 35, maximum: 10), in: .publish)) {
            try decoder.packets(from: bytes)
        }
    }

    // MARK: - Random bytes

    /// For any bytes, the decoder returns frames or throws. Splitting the bytes differently gives the same result.
    @Test(arguments: 0..<200)
    func randomBytesAreDecodedAlikeHoweverSplit(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var bytes = Self.stream
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
        func outcome(_ sizes: ClosedRange<Int>) -> ([MQTTPacket], MQTTError?) {
            var decoder = FrameDecoder(maximumPacketBytes: 40)
            var packets: [MQTTPacket] = []
            var start = 0
            while start < bytes.count {
                let end = min(bytes.count, start + Int.random(in: sizes, using: &random))
                do throws(MQTTError) {
                    try decoder.decode(bytes[start..<end].span.bytes) { (header, body) throws(MQTTError) in
                        packets.append(try MQTTPacket(header: header, body: body))
                    }
                } catch {
                    return (packets, error)
                }
                start = end
            }
            return (packets, nil)
        }
        let whole = outcome(bytes.count...bytes.count)
        let split = outcome(1...9)
        #expect(whole.0 == split.0)
        #expect(whole.1 == split.1)
    }
}
