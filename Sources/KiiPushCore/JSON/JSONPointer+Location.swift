extension JSONPointer {
    /// The path to the value at `offset`. The scanner keeps no path, since nearly every document is valid; this second
    /// pass finds the path after an error.
    init(leadingTo offset: Int, in bytes: [UInt8]) {
        enum Level {
            case array(index: Int)
            case object(key: String?)
        }
        var levels: [Level] = []
        bytes.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return }
            var position = 0
            while position < offset {
                switch base[position] {
                case UInt8(ascii: "{"): levels.append(.object(key: nil))
                case UInt8(ascii: "["): levels.append(.array(index: 0))
                case UInt8(ascii: "}"), UInt8(ascii: "]"): _ = levels.popLast()
                case UInt8(ascii: ","):
                    switch levels.popLast() {
                    case .array(let index): levels.append(.array(index: index + 1))
                    case .object: levels.append(.object(key: nil))
                    case nil: break
                    }
                case UInt8(ascii: "\""):
                    guard let content = JSONPointer.content(base, quote: position, before: offset) else { return }
                    if case .object(key: nil) = levels.last {
                        let range = content.start..<content.end
                        let key = JSONText.string(in: bytes.span, range, isEscaped: content.isEscaped)
                        levels[levels.count - 1] = .object(key: key)
                    }
                    position = content.end
                default: break
                }
                position += 1
            }
        }
        let tokens = levels.compactMap { level in
            switch level {
            case .array(let index): String(index)
            case .object(let key): key
            }
        }
        self.init(tokens: tokens)
    }

    private static func content(_ base: UnsafePointer<UInt8>, quote: Int, before offset: Int) -> JSONStringRange? {
        var position = quote + 1
        var isEscaped = false
        while position < offset {
            switch base[position] {
            case UInt8(ascii: "\""): return JSONStringRange(start: quote + 1, end: position, isEscaped: isEscaped)
            case UInt8(ascii: "\\"):
                isEscaped = true
                position += 2
            default: position += 1
            }
        }
        return nil
    }

    /// The index in a step: decimal digits without leading zeros (RFC 6901 section 4).
    static func index(_ token: String) -> Int? {
        guard token.utf8.allSatisfy(isDigit), token == "0" || token.utf8.first != UInt8(ascii: "0") else { return nil }
        return Int(token)
    }
}
