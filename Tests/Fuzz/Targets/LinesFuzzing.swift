import KiiPushActivation
import KiiPushCore

/// Lines between processes: of the control socket, and between an activator and its program. The input is a seed for
/// the lengths of the pieces, and the stream.
enum LinesFuzzing {
    static func violations(_ input: [UInt8]) -> [String] {
        var claims = Claims()
        var input = FuzzInput(input)
        let seed = input.byte()
        let stream = input.remainder()
        let largest = [1, 3, 64][Int(seed % 3)]
        let pieces = FuzzInput.pieces(of: stream, upTo: largest, seed)
        let lines = Self.controlLines([stream[...]])
        claims.require(Self.controlLines(pieces) == lines, "pieces of up to \(largest) bytes are the same lines")
        claims.require(
            lines == stream.split(separator: 0x0A, omittingEmptySubsequences: false).dropLast().map(Array.init),
            "each line is there")
        claims.require(
            Self.bufferedLines(pieces, limit: 48) == Self.bufferedLines([stream[...]], limit: 48),
            "pieces of up to \(largest) bytes are the same lines within a limit")
        for line in lines.prefix(8) {
            Self.checkControl(line, &claims)
            Self.checkActivation(line, &claims)
        }
        return claims.violated
    }

    private static func controlLines(_ pieces: [ArraySlice<UInt8>]) -> [[UInt8]] {
        var buffer = ControlLines()
        return pieces.flatMap { buffer.take($0) ?? [] }
    }

    private static func bufferedLines(_ pieces: [ArraySlice<UInt8>], limit: Int) -> [[UInt8]?] {
        var buffer = LineBuffer(limit: limit)
        return pieces.flatMap { buffer.lines(from: $0) }
    }

    /// A message that was read can be written as one line, and read again.
    private static func checkControl(_ line: [UInt8], _ claims: inout Claims) {
        if let request = ControlRequest(line: line) {
            claims.require(Self.isOneLine(request.line), "a request is one line")
            claims.require(ControlRequest(line: request.line.dropLast()) == request, "a request is read again")
            if let id = request.messageID {
                let decisions: [ControlRequest] = [.decide(.retry, id), .decide(.drop, id)]
                claims.require(decisions.contains(request), "a request is about its message")
            }
        }
        guard let reply = ControlReply(line: line) else { return }
        // Only a newer version, which sent the reply, can write it.
        if case .unknown = reply { return }
        guard let written = reply.line else { return claims.require(false, "what is read of a reply can be written") }
        claims.require(Self.isOneLine(written), "a reply is one line")
        claims.require(ControlReply(line: written.dropLast())?.line == written, "a reply is read again")
        if case .event(let event) = reply {
            claims.require(!"\(event)".isEmpty, "an event has words")
        }
    }

    private static func checkActivation(_ line: [UInt8], _ claims: inout Claims) {
        do throws(JSONMemberError) {
            let answer = try ActivationAnswer(line: line)
            claims.require(Self.isOneLine(answer.line), "an answer is one line")
            claims.require((try? ActivationAnswer(line: answer.line.dropLast())) == answer, "an answer is read again")
        } catch {
            Self.check(error, line, &claims)
        }
        do throws(JSONMemberError) {
            let read = try ActivationLine(line: line)
            claims.require(Self.isOneLine(read.line), "what a program reads is one line")
            claims.require((try? ActivationLine(line: read.line.dropLast())) == read, "it is read again")
            guard case .message(let message) = read else { return }
            claims.require(.zero <= message.timeRemaining && message.timeRemaining <= .seconds(3600), "time is bounded")
            claims.require(message.attempt >= 1, "attempts are counted from 1")
        } catch {
            Self.check(error, line, &claims)
        }
    }

    private static func check(_ error: JSONMemberError, _ line: [UInt8], _ claims: inout Claims) {
        claims.require(
            !error.description.isEmpty && !error.description.contains { $0.isNewline }, "an error is one line")
        claims.require(!error.description.holdsSecret || line.namesSecret, "an error holds no value of the line")
    }

    private static func isOneLine(_ bytes: [UInt8]) -> Bool { bytes.firstIndex(of: 0x0A) == bytes.count - 1 }
}
