/// The path to a value (RFC 6901), such as `/aps/alert/loc-args/0`. Its steps compare scalar by scalar (section 4).
package struct JSONPointer: Sendable, Hashable, CustomStringConvertible {
    private var steps: [ExactString]
    package var tokens: [String] { self.steps.map(\.text) }

    package init(tokens: [String] = []) { self.steps = tokens.map(ExactString.init) }

    /// Reads RFC 6901's text form, with `~1` for `/` and `~0` for `~`.
    package init?(_ text: String) {
        var tokens: [String] = []
        guard text.isEmpty || text.utf8.first == UInt8(ascii: "/") else { return nil }
        for part in text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst() {
            guard let token = JSONPointer.unescaped(Substring(part)) else { return nil }
            tokens.append(token)
        }
        self.init(tokens: tokens)
    }

    package init(codingPath: [any CodingKey]) {
        let tokens = codingPath.map { key in
            // `JSONValueDecoder` and Foundation's decoders name an element "Index 3". Any other key is a member's.
            guard let index = key.intValue, key.stringValue == "Index \(index)" else { return key.stringValue }
            return String(index)
        }
        self.init(tokens: tokens)
    }

    package func appending(_ key: String) -> JSONPointer {
        var pointer = self
        pointer.steps.append(ExactString(key))
        return pointer
    }

    package func appending(_ index: Int) -> JSONPointer { self.appending(String(index)) }

    package var description: String {
        var text = ""
        for step in self.steps {
            text += "/"
            for scalar in step.text.unicodeScalars {
                switch scalar {
                case "~": text += "~0"
                case "/": text += "~1"
                default: text.unicodeScalars.append(scalar)
                }
            }
        }
        return text
    }

    /// For error texts: quoted, without ASCII control characters, and cut after 80 scalars.
    package var abbreviated: String {
        let scalars = self.description.unicodeScalars
        let printable = scalars.prefix(80).map { $0.value < 0x20 || $0.value == 0x7F ? "?" : String($0) }.joined()
        return "\"\(printable)\(scalars.count > 80 ? "…" : "")\""
    }

    private static func unescaped(_ part: Substring) -> String? {
        var token = ""
        var scalars = part.unicodeScalars.makeIterator()
        while let scalar = scalars.next() {
            guard scalar == "~" else {
                token.unicodeScalars.append(scalar)
                continue
            }
            switch scalars.next() {
            case "0": token += "~"
            case "1": token += "/"
            default: return nil
            }
        }
        return token
    }
}
