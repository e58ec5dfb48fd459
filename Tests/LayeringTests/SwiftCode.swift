/// The words of a Swift file outside comments and string literals, and the file's size.
///
/// The inside of `\(…)` is code, so its words count.
struct SwiftCode {
    struct Word: Equatable {
        var text: String
        var line: Int
        /// The number of open braces: 0 at the top level of the file.
        var depth: Int
        /// The punctuation between the previous word and this word, without spaces: `.` for `Event` in
        /// `MQTTSession.Event`.
        var before: String

        var isMember: Bool { self.before.hasSuffix(".") }
    }

    let words: [Word]
    let lineCount: Int
    /// Bytes of code: without comments, blank lines, line breaks and the spaces at both ends of a line. The contents of
    /// string literals count.
    let size: Int

    init(_ source: String) {
        var scanner = LiteralScanner(Array(source.utf8))
        let bytes = scanner.blanked()
        var words: [Word] = []
        var (line, depth, index) = (1, 0, 0)
        var marks = ""
        while index < bytes.count {
            let byte = bytes[index]
            if byte.startsWord {
                let start = index
                while index < bytes.count, bytes[index].continuesWord { index += 1 }
                let text = String(decoding: bytes[start..<index], as: UTF8.self)
                words.append(Word(text: text, line: line, depth: depth, before: marks))
                marks = ""
                continue
            }
            switch byte {
            case UInt8(ascii: "\n"): line += 1
            case UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "}"): depth -= 1
            default: break
            }
            if !byte.isSpace { marks.unicodeScalars.append(UnicodeScalar(byte)) }
            index += 1
        }
        self.words = words
        self.size = scanner.code.split(separator: UInt8(ascii: "\n")).reduce(0) { size, line in
            size + line.drop(while: \.isSpace).reversed().drop(while: \.isSpace).count
        }
        self.lineCount = source.utf8.reduce(0) { $0 + ($1 == UInt8(ascii: "\n") ? 1 : 0) }
    }
}

extension SwiftCode {
    enum Measure: String, CaseIterable {
        case bytes = "bytes of code"
        case types
        case publicDeclarations = "public declarations"
        case errorTypes = "error types"
    }

    func count(_ measure: Measure) -> Int {
        switch measure {
        case .bytes: self.size
        case .types: self.declarations(by: Self.typeKeywords).count
        case .publicDeclarations: self.publicDeclarations
        case .errorTypes:
            self.declarations(by: Self.typeKeywords.union(["extension"])).count(where: self.conformsToError)
        }
    }

    static let typeKeywords: Set<String> = ["struct", "class", "enum", "actor", "protocol"]

    /// The indices of `keywords` in ``words`` that declare or extend a type. The name of a type begins with a capital:
    /// `class func` and `import struct Glibc.Name` declare none.
    func declarations(by keywords: Set<String>) -> [Int] {
        self.words.indices.dropLast().filter { index in
            guard keywords.contains(self.words[index].text), !self.words[index].isMember else { return false }
            let name = self.words[index + 1]
            guard name.before.isEmpty, name.text.first?.isUppercase == true else { return false }
            return index == 0 || self.words[index - 1].text != "import"
        }
    }

    private var publicDeclarations: Int {
        zip(self.words, self.words.dropFirst()).count { word, next in
            word.text == "public" && !word.isMember && !next.before.hasPrefix("(") && next.text != "import"
        }
    }

    private func conformsToError(at index: Int) -> Bool {
        let head = self.words[(index + 1)...].prefix {
            $0.depth == self.words[index].depth && !$0.before.contains("}") && $0.text != "where"
        }
        // Generic parameters contain colons too.
        let colon = head.dropFirst().first?.before == "<" ? ">:" : ":"
        return head.drop { !$0.before.contains(colon) }.contains { $0.text == "Error" }
    }
}

private struct LiteralScanner {
    private var bytes: [UInt8]
    private var index = 0
    private(set) var code: [UInt8] = []

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func blanked() -> [UInt8] {
        while self.index < self.bytes.count { self.step() }
        return self.bytes
    }

    private mutating func step() {
        if self.sees("//") {
            while self.index < self.bytes.count, self.bytes[self.index] != UInt8(ascii: "\n") {
                self.blank(isComment: true)
            }
        } else if self.sees("/*") {
            self.blockComment()
        } else if let pounds = self.poundsBeforeQuote() {
            self.literal(pounds: pounds)
        } else {
            self.code.append(self.bytes[self.index])
            self.index += 1
        }
    }

    private mutating func blockComment() {
        var depth = 0
        repeat {
            if self.sees("/*") {
                depth += 1
                self.blank(2, isComment: true)
            } else if self.sees("*/") {
                depth -= 1
                self.blank(2, isComment: true)
            } else {
                self.blank(isComment: true)
            }
        } while depth > 0 && self.index < self.bytes.count
    }

    /// The number of `#` before the quotation mark that begins a literal here, or `nil` if no literal begins here.
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

    /// Scans the `(…)` of an interpolation: code that may contain literals.
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

    private mutating func blank(_ count: Int = 1, isComment: Bool = false) {
        for _ in 0..<count where self.index < self.bytes.count {
            let byte = self.bytes[self.index]
            if !isComment || byte == UInt8(ascii: "\n") { self.code.append(byte) }
            if byte != UInt8(ascii: "\n") { self.bytes[self.index] = UInt8(ascii: " ") }
            self.index += 1
        }
    }
}

extension UInt8 {
    fileprivate var isSpace: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\n") }

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
