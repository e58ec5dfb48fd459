/// The topic of the last message, as a string that messages share. Comparing bytes is faster than making a string.
struct SharedTopic: Sendable {
    private var bytes: [UInt8]
    private var text: String

    init(_ text: String) {
        self.bytes = Array(text.utf8)
        self.text = text
    }

    mutating func topic(of layout: MQTTPublishLayout, in body: RawSpan) throws(MQTTError) -> String {
        let topic = body.extracting(layout.topic)
        if topic.holds(self.bytes) { return self.text }
        self.text = try layout.topic(in: body)
        self.bytes = [UInt8](copying: topic)
        return self.text
    }
}

extension RawSpan {
    fileprivate func holds(_ bytes: [UInt8]) -> Bool {
        let other = bytes.span.bytes
        guard self.byteCount == other.byteCount else { return false }
        var offset = 0
        while self.byteCount - offset >= 8 {
            let left = self.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
            guard left == other.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self) else { return false }
            offset += 8
        }
        while offset < self.byteCount {
            let left = self.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
            guard left == other.unsafeLoad(fromByteOffset: offset, as: UInt8.self) else { return false }
            offset += 1
        }
        return true
    }
}
