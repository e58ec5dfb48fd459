/// The code of a Swift file with everything that is not code taken out: comments, and what string literals say.
///
/// Blanked bytes become spaces, so that line numbers stay true. The inside of `\(…)` is code and is kept.
struct SwiftCode {
    /// One word of the code: an identifier or a keyword.
    struct Word: Equatable {
        var text: String
        var line: Int
        /// Braces that are open here: 0 at the top level of the file.
        var depth: Int
        /// Whether the word is a member of what stands before it, as `Event` in `MQTTSession.Event`.
        var isMember: Bool
    }

    let words: [Word]
    let lineCount: Int

    init(_ source: String) {
        var scanner = LiteralScanner(Array(source.utf8))
        let bytes = scanner.blanked()
        var words: [Word] = []
        var (line, depth, index) = (1, 0, 0)
        var previous: UInt8 = 0
        while index < bytes.count {
            let byte = bytes[index]
            if byte.startsWord {
                let start = index
                while index < bytes.count, bytes[index].continuesWord { index += 1 }
                let text = String(decoding: bytes[start..<index], as: UTF8.self)
                words.append(Word(text: text, line: line, depth: depth, isMember: previous == UInt8(ascii: ".")))
                previous = byte
                continue
            }
            switch byte {
            case UInt8(ascii: "\n"): line += 1
            case UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "}"): depth -= 1
            default: break
            }
            if byte != UInt8(ascii: " "), byte != UInt8(ascii: "\n") { previous = byte }
            index += 1
        }
        self.words = words
        self.lineCount = source.utf8.reduce(0) { $0 + ($1 == UInt8(ascii: "\n") ? 1 : 0) }
    }
}

/// Walks over comments and string literals, and leaves spaces in their place.
private struct LiteralScanner {
    private var bytes: [UInt8]
    private var index = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func blanked() -> [UInt8] {
        while self.index < self.bytes.count { self.step() }
        return self.bytes
    }

    /// Passes one byte of code, or one whole comment or literal.
    private mutating func step() {
        if self.sees("//") {
            while self.index < self.bytes.count, self.bytes[self.index] != UInt8(ascii: "\n") { self.blank() }
        } else if self.sees("/*") {
            self.blockComment()
        } else if let pounds = self.poundsBeforeQuote() {
            self.literal(pounds: pounds)
        } else {
            self.index += 1
        }
    }

    private mutating func blockComment() {
        var depth = 0
        repeat {
            if self.sees("/*") {
                depth += 1
                self.blank(2)
            } else if self.sees("*/") {
                depth -= 1
                self.blank(2)
            } else {
                self.blank()
            }
        } while depth > 0 && self.index < self.bytes.count
    }

    /// How many `#` open the literal that starts here, or `nil` when none does.
    private func poundsBeforeQuote() -> Int? {
        var position = self.index
        while position < self.bytes.count, self.bytes[position] == UInt8(ascii: "#") { position += 1 }
        guard position < self.bytes.count, self.bytes[position] == UInt8(ascii: "\"") else { return nil }
        return position - self.index
    }

    private mutating func literal(pounds: Int) {
        self.blank(pounds)
        let quotes = self.sees("\"\"\"") ? "\"\"\"" : "\""
        self.blank(quotes.utf8.count)
        let mark = String(repeating: "#", count: pounds)
        while self.index < self.bytes.count, !self.sees(quotes + mark) {
            if self.sees("\\" + mark + "(") {
                self.blank(pounds + 1)
                self.interpolation()
            } else if self.sees("\\" + mark) {
                self.blank(pounds + 2)
            } else {
                self.blank()
            }
        }
        self.blank(quotes.utf8.count + pounds)
    }

    /// Passes `(…)` of an interpolation, which is code and may hold literals of its own.
    private mutating func interpolation() {
        var depth = 0
        repeat {
            switch self.bytes[self.index] {
            case UInt8(ascii: "("): depth += 1
            case UInt8(ascii: ")"): depth -= 1
            default: break
            }
            self.step()
        } while depth > 0 && self.index < self.bytes.count
    }

    private func sees(_ text: String) -> Bool {
        self.bytes[self.index...].starts(with: text.utf8)
    }

    private mutating func blank(_ count: Int = 1) {
        for _ in 0..<count where self.index < self.bytes.count {
            if self.bytes[self.index] != UInt8(ascii: "\n") { self.bytes[self.index] = UInt8(ascii: " ") }
            self.index += 1
        }
    }
}

extension UInt8 {
    fileprivate var startsWord: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"): true
        default: self >= 0x80
        }
    }

    fileprivate var continuesWord: Bool {
        self.startsWord || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
    }
}
