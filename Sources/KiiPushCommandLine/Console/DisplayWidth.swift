import Glibc

extension StringProtocol {
    /// The number of columns on a terminal: two for a wide character, none for a combining mark.
    package var displayWidth: Int {
        if self.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) { return self.utf8.count }
        return self.reduce(0) { $0 + $1.displayWidth }
    }
}

extension String {
    package func padded(to width: Int) -> String {
        self + String(repeating: " ", count: Swift.max(0, width - self.displayWidth))
    }
}

extension Character {
    /// 0, 1 or 2: mostly the width of the widest Unicode scalar.
    fileprivate var displayWidth: Int {
        // Variation selector 16 requests an emoji, which is wide.
        if self.unicodeScalars.contains("\u{fe0f}"), self.unicodeScalars.count > 1 { return 2 }
        return self.unicodeScalars.map(\.displayWidth).max() ?? 0
    }
}

extension Unicode.Scalar {
    /// Blocks of wide characters. A few characters in them are narrow.
    ///
    /// - Source: Unicode Standard Annex 11, EastAsianWidth.txt: W and F.
    private static let wideBlocks: [ClosedRange<UInt32>] = [
        0x1100...0x115f, 0x2e80...0x303e, 0x3041...0x33ff, 0x3400...0x4dbf, 0x4e00...0x9fff, 0xa000...0xa4cf,
        0xa960...0xa97f, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe10...0xfe19, 0xfe30...0xfe6f, 0xff01...0xff60,
        0xffe0...0xffe6, 0x16fe0...0x18cff, 0x1aff0...0x1b2ff, 0x20000...0x3fffd,
    ]

    fileprivate var displayWidth: Int {
        if self.isASCII { return self.value < 0x20 || self.value == 0x7f ? 0 : 1 }
        switch self.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: return 0
        default: break
        }
        // Medial vowels and final consonants of Hangul are drawn into the preceding syllable.
        if (0x1160...0x11ff).contains(self.value) { return 0 }
        if self.properties.isEmojiPresentation { return 2 }
        return Self.wideBlocks.contains { $0.contains(self.value) } ? 2 : 1
    }
}

extension StandardStream {
    /// The number of columns for wrapped text, from 40 to 100: `COLUMNS`, else the terminal's; 80 if unknown or without
    /// a terminal.
    package func textWidth() -> Int {
        guard self.isTerminal else { return 80 }
        let columns = EnvironmentVariable.columns.text.flatMap { Int($0) } ?? self.terminalColumns
        guard let columns, columns > 0 else { return 80 }
        return min(max(columns, 40), 100)
    }
}
