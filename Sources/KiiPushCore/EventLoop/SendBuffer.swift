/// Unsent bytes of a stream. The front array stays unchanged until it is sent: OpenSSL requires the same address for a
/// repeated write.
struct SendBuffer {
    private var front: [UInt8] = []
    private var sentOfFront = 0
    private var back: [UInt8] = []

    var isEmpty: Bool { self.front.isEmpty && self.back.isEmpty }

    var count: Int { self.front.count - self.sentOfFront + self.back.count }

    mutating func append(_ bytes: [UInt8]) {
        if self.back.isEmpty {
            self.back = bytes
        } else {
            self.back.append(contentsOf: bytes)
        }
    }

    /// Calls `write` until all bytes are sent, or until `write` returns `nil` because it would block. Returns whether
    /// all bytes were sent.
    mutating func drain<Failure: Error>(
        _ write: (UnsafeRawBufferPointer) throws(Failure) -> Int?
    ) throws(Failure) -> Bool {
        while self.advance() {
            let unsent = self.sentOfFront
            let written = try self.front.withUnsafeBufferPointer { bytes throws(Failure) in
                try write(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[unsent...])))
            }
            guard let written else { return false }
            self.sentOfFront += written
        }
        return true
    }

    mutating func removeAll() { self = SendBuffer() }

    private mutating func advance() -> Bool {
        if self.sentOfFront == self.front.count {
            self.front = self.back
            self.back = []
            self.sentOfFront = 0
        }
        return !self.front.isEmpty
    }
}
