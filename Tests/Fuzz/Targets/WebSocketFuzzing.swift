import KiiPushCore

/// The opening handshake and the frames. The input is the role, whether the stream begins with the handshake, a seed
/// for the pieces, and the stream.
enum WebSocketFuzzing {
    private struct Outcome: Equatable {
        var refusal: String?
        var payload: [UInt8] = []
        var ping: [UInt8]?
        var code: TransportError.Code?
        var answer: UInt16?
    }

    static func violations(_ input: [UInt8]) -> [String] {
        var claims = Claims()
        var input = FuzzInput(input)
        let role: WebSocketRole = input.bool() ? .server : .client
        let hasHandshake = input.bool()
        let seed = input.byte()
        let stream = input.remainder()
        let whole = Self.outcome([stream[...]], role, hasHandshake)
        let largest = [1, 3, 64][Int(seed % 3)]
        let split = Self.outcome(FuzzInput.pieces(of: stream, upTo: largest, seed), role, hasHandshake)
        claims.require(split == whole, "pieces of up to \(largest) bytes are read as the whole is")
        claims.require(whole.payload.count <= stream.count, "payload is what came")
        // Each end can read every frame of the other end.
        let mask = role == .server ? UInt32(seed) &* 0x0101_0103 : nil
        var written: [UInt8] = []
        WebSocketFrame.append(.binary, stream, mask: mask, to: &written)
        let again = Self.outcome([written[...]], role, false)
        claims.require(again == Outcome(payload: stream), "what is written is read again")
        return claims.violated
    }

    private static func outcome(_ pieces: [ArraySlice<UInt8>], _ role: WebSocketRole, _ hasHandshake: Bool) -> Outcome {
        var outcome = Outcome()
        var upgrade = hasHandshake && role == .client ? Self.upgrade : nil
        var serverHandshake = hasHandshake && role == .server ? WebSocketServerHandshake() : nil
        var decoder = WebSocketDecoder(role: role)
        for piece in pieces {
            var piece = Array(piece)
            do throws(TransportError) {
                if upgrade != nil {
                    let read = { (bytes: UnsafeRawBufferPointer) throws(TransportError) in try upgrade?.read(bytes) }
                    guard let taken = try piece.span.bytes.withUnsafeBytes(read) else { continue }
                    upgrade = nil
                    piece.removeFirst(taken)
                }
            } catch {
                outcome.refusal = error.detail
                return outcome
            }
            if serverHandshake != nil {
                switch piece.withUnsafeBytes({ serverHandshake?.read($0) }) ?? nil {
                case nil: continue
                case .refused(let answer):
                    outcome.refusal = String(decoding: answer, as: UTF8.self)
                    return outcome
                case .opened(_, let taken):
                    serverHandshake = nil
                    piece.removeFirst(taken)
                }
            }
            piece.withUnsafeMutableBytes { outcome.payload += decoder.decode($0) }
            outcome.ping = decoder.takePing() ?? outcome.ping
        }
        // Only the text of the error may depend on the pieces: it counts bytes after the end in the same piece.
        outcome.code = decoder.end?.error.code
        outcome.answer = decoder.end?.answer
        return outcome
    }

    private static var upgrade: WebSocketClientHandshake {
        WebSocketClientHandshake(host: "h", port: 1, usesTLS: false, key: Array("the sample nonce".utf8))
    }
}
