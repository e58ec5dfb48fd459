/// Equality is by value: `1`, `1.0` and `10e-1` are equal. Numbers with an exponent of ±10¹⁷ or beyond compare as text.
package struct JSONNumber: Sendable, Hashable, CustomStringConvertible {
    package let text: String

    package init?(_ text: String) {
        guard let first = text.utf8.first, first == UInt8(ascii: "-") || isDigit(first) else { return nil }
        guard (try? JSONValue(parsing: text))?.number?.text == text else { return nil }
        self.text = text
    }

    package init(_ integer: some BinaryInteger) { self.text = String(integer) }

    package init?(_ double: Double) {
        guard double.isFinite else { return nil }
        self.text = double.description
    }

    /// ``JSONScanner`` must have accepted the text as a number.
    init(scanned text: String) { self.text = text }

    package var int64: Int64? { self.exactly(Int64.self) }

    package var uint64: UInt64? { self.exactly(UInt64.self) }

    package var double: Double? { Double(self.text).flatMap { $0.isFinite ? $0 : nil } }

    /// `nil` unless the type represents the value exactly: `1.0` and `1e3` are integers, `1.5` is not.
    package func exactly<Integer: FixedWidthInteger>(_ type: Integer.Type = Integer.self) -> Integer? {
        if let integer = Integer(self.text) { return integer }
        guard let decimal = Decimal(self.text), decimal.exponent >= 0 else { return nil }
        guard decimal.exponent + decimal.digits.count <= 40 else { return nil }  // 2^128 has 39 digits
        var value: Integer = 0
        for index in 0..<decimal.digits.count + decimal.exponent {
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            guard !overflow else { return nil }
            let digit = index < decimal.digits.count ? Integer(decimal.digits[index]) : 0
            // Negative numbers count downwards, since the least integer has no positive counterpart.
            let (sum, carried) =
                decimal.isNegative
                ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
            guard !carried else { return nil }
            value = sum
        }
        return value
    }

    package var description: String { self.text }

    package static func == (left: JSONNumber, right: JSONNumber) -> Bool {
        if left.text == right.text { return true }
        guard let leftDecimal = Decimal(left.text), let rightDecimal = Decimal(right.text) else { return false }
        return leftDecimal == rightDecimal
    }

    package func hash(into hasher: inout Hasher) {
        if let decimal = Decimal(self.text) {
            hasher.combine(decimal)
        } else {
            hasher.combine(self.text)
        }
    }
}

extension JSONNumber {
    /// A number in its canonical form: digits x 10^exponent, without zeros at either end.
    private struct Decimal: Hashable {
        var isNegative = false
        var digits: [UInt8] = []
        var exponent = 0

        init?(_ text: String) {
            var written = 0
            var isExponentNegative = false
            var part = Part.integer
            for byte in text.utf8 {
                switch (byte, part) {
                case (UInt8(ascii: "-"), .exponent): isExponentNegative = true
                case (UInt8(ascii: "-"), _): self.isNegative = true
                case (UInt8(ascii: "+"), _): break
                case (UInt8(ascii: "."), _): part = .fraction
                case (UInt8(ascii: "e"), _), (UInt8(ascii: "E"), _): part = .exponent
                case (let digit, .exponent):
                    written = written * 10 + Int(digit - UInt8(ascii: "0"))
                    guard written < 100_000_000_000_000_000 else { return nil }
                case (let digit, _):
                    if part == .fraction { self.exponent -= 1 }
                    if digit != UInt8(ascii: "0") || !self.digits.isEmpty {
                        self.digits.append(digit - UInt8(ascii: "0"))
                    }
                }
            }
            self.exponent += isExponentNegative ? -written : written
            while self.digits.last == 0 {
                self.digits.removeLast()
                self.exponent += 1
            }
            if self.digits.isEmpty {
                self.isNegative = false
                self.exponent = 0
            }
        }

        private enum Part {
            case integer, fraction, exponent
        }
    }
}
