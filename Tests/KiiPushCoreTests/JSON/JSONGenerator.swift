import SeededNumbers

enum JSONGenerator {
    static func document(using generator: inout SeededGenerator) -> String {
        self.space(&generator) + self.value(depth: 0, &generator) + self.space(&generator)
    }

    static func damage(_ bytes: inout [UInt8], using generator: inout SeededGenerator) {
        let alphabet = Array("{}[]\",:\\u09.eE+-truefalsn \n".utf8) + [0x01, 0x7F, 0x80, 0xC3, 0xE2, 0xED, 0xF0, 0xFF]
        for _ in 0..<Int.random(in: 1...3, using: &generator) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &generator)
            let byte = alphabet.randomElement(using: &generator) ?? 0
            switch Int.random(in: 0..<5, using: &generator) {
            case 0: bytes[place] = byte
            case 1: bytes.remove(at: place)
            case 2: bytes.insert(byte, at: place)
            case 3: bytes.insert(bytes[place], at: place)
            default: bytes.removeSubrange(place...)
            }
        }
    }

    private static func value(depth: Int, _ generator: inout SeededGenerator) -> String {
        switch Int.random(in: 0..<(depth < 5 ? 9 : 6), using: &generator) {
        case 0: return ["null", "true", "false"].randomElement(using: &generator) ?? "null"
        case 1, 2: return self.number(&generator)
        case 3, 4, 5: return self.string(&generator)
        case 6:
            let elements = (0..<Int.random(in: 0...4, using: &generator)).map { _ in
                self.space(&generator) + self.value(depth: depth + 1, &generator) + self.space(&generator)
            }
            return "[\(elements.isEmpty ? self.space(&generator) : elements.joined(separator: ","))]"
        default:
            let members = (0..<Int.random(in: 0...4, using: &generator)).map { index in
                "\(self.space(&generator))\(self.key(index, &generator))\(self.space(&generator)):"
                    + "\(self.space(&generator))\(self.value(depth: depth + 1, &generator))\(self.space(&generator))"
            }
            return "{\(members.isEmpty ? self.space(&generator) : members.joined(separator: ","))}"
        }
    }

    private static func number(_ generator: inout SeededGenerator) -> String {
        let integer = String(generator.next() >> UInt64.random(in: 1..<64, using: &generator))
        let sign = Bool.random(using: &generator) ? "-" : ""
        let fraction = Bool.random(using: &generator) ? ".\(generator.next() >> 40)" : ""
        let exponent = ["", "", "e", "E+", "e-"].randomElement(using: &generator) ?? ""
        return sign + integer + fraction + exponent
            + (exponent.isEmpty ? "" : String(Int.random(in: 0...40, using: &generator)))
    }

    /// The keys of an object differ, because parsers may disagree about equal keys.
    private static func key(_ index: Int, _ generator: inout SeededGenerator) -> String {
        "\"\(index)" + self.string(&generator).dropFirst()
    }

    private static func string(_ generator: inout SeededGenerator) -> String {
        let pieces = [
            "a", "key", "long enough for several words", " ", "é", "€", "😀", "\u{7F}", "\u{2028}", #"\n"#, #"\t"#,
            #"\""#,
            #"\\"#, #"\/"#, #"\b\f\r"#, #"\u0041"#, #"\u00e9"#, #"\u0000"#, #"\ud83d\ude00"#, #"\uDBFF\uDFFF"#, "{",
            "]", ",",
            ":", "//", "0",
        ]
        let chosen = (0..<Int.random(in: 0...5, using: &generator)).map { _ in
            pieces.randomElement(using: &generator) ?? ""
        }
        return "\"\(chosen.joined())\""
    }

    private static func space(_ generator: inout SeededGenerator) -> String {
        ["", "", "", " ", "\n", "\r\n", "\t "].randomElement(using: &generator) ?? ""
    }
}
