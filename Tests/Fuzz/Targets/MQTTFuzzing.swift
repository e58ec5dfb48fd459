import KiiPushCore

/// Frames and packets. The input is the protocol's version, the largest packet, a seed for the pieces, and the stream.
enum MQTTFuzzing {
    private struct Frame: Equatable {
        var header: MQTTFixedHeader
        var body: [UInt8]
    }

    private struct Outcome: Equatable {
        var frames: [Frame] = []
        var error: MQTTError?
        var keptBytes = 0
    }

    static func violations(_ input: [UInt8]) -> [String] {
        var claims = Claims()
        var input = FuzzInput(input)
        let version: MQTTVersion = input.bool() ? .v3_1 : .v3_1_1
        let limit = input.number(in: 0...255) * 8
        let seed = input.byte()
        let stream = input.remainder()
        let whole = Self.outcome([stream[...]], version, limit)
        claims.require(whole.error.map { !$0.description.isEmpty } ?? true, "an error has words")
        claims.require(whole.keptBytes <= max(limit, 65_539), "what is kept is bounded")
        // One way to cut for each input. The seed is part of the input, so the fuzzer tries all of them.
        let largest = [1, 3, 64][Int(seed % 3)]
        let split = Self.outcome(FuzzInput.pieces(of: stream, upTo: largest, seed), version, limit)
        claims.require(split == whole, "pieces of up to \(largest) bytes are decoded as the whole is")
        for frame in whole.frames { Self.check(frame, version, &claims) }
        return claims.violated
    }

    private static func outcome(_ pieces: [ArraySlice<UInt8>], _ version: MQTTVersion, _ limit: Int) -> Outcome {
        var decoder = FrameDecoder(version: version, maximumPacketBytes: limit)
        var outcome = Outcome()
        for piece in pieces {
            do throws(MQTTError) {
                try decoder.decode(piece.span.bytes) { (header, body) throws(MQTTError) in
                    outcome.frames.append(Frame(header: header, body: body.withUnsafeBytes { Array($0) }))
                }
            } catch {
                outcome.error = error
                return outcome
            }
        }
        outcome.keptBytes = decoder.keptBytes
        return outcome
    }

    /// A packet that was read can be written in no more bytes, and read again.
    private static func check(_ frame: Frame, _ version: MQTTVersion, _ claims: inout Claims) {
        guard frame.body.count == frame.header.remainingLength else {
            claims.require(frame.header.type == .publish, "only PUBLISH is cut")
            let topicLength = frame.body.prefix(2).reduce(0) { $0 << 8 + Int($1) }
            let needed = min(2 + topicLength + 2, frame.header.remainingLength)
            claims.require(frame.body.count >= needed, "what is cut keeps its topic and packet identifier")
            return
        }
        guard var packet = try? MQTTPacket(header: frame.header, body: frame.body.span.bytes, version: version) else {
            return
        }
        if case .publish(var publish) = packet, publish.qos == .atMostOnce {
            // The decoder accepts DUP at QoS 0, where it has no meaning; the encoder never writes it ([MQTT-3.3.1-2]).
            publish.duplicate = false
            packet = .publish(publish)
        }
        claims.require(packet.type == frame.header.type, "a packet is of its header's type")
        var written: [UInt8] = [0x2A]
        do throws(MQTTError) {
            try packet.encode(into: &written, version: version)
        } catch {
            claims.require(false, "what was read can be written: \(error)")
            claims.require(written == [0x2A], "what cannot be written leaves nothing behind")
            return
        }
        claims.require(written.count - 1 <= frame.body.count + 5, "it is written in no more bytes")
        var decoder = FrameDecoder(version: version)
        let again = try? decoder.packets(from: Array(written.dropFirst()))
        claims.require(again == [packet] && decoder.keptBytes == 0, "what is written is read again")
    }
}
