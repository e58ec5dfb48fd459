import KiiPushCore
import Testing

@Suite struct JSONNumberTests {
    @Test(
        arguments: [
            ("0", 0), ("-0", 0), ("-0.0e5", 0), ("1.0", 1), ("1e3", 1000), ("-12e1", -120), ("1200e-2", 12),
            ("9223372036854775807", .max), ("-9223372036854775808", .min), ("-9.223372036854775808e18", .min),
            ("1.5", nil), ("1e-1", nil), ("9223372036854775808", nil), ("-9223372036854775809", nil), ("1e19", nil),
            ("1e400", nil), ("1e99999999999999999999", nil), ("123456789012345678", 123_456_789_012_345_678),
            ("1234567890123456789", 1_234_567_890_123_456_789),
        ] as [(String, Int64?)])
    func isAnInt64IfExactlyOne(text: String, value: Int64?) throws {
        #expect(try JSONValue(parsing: text).int64 == value)
        #expect(try JSONValue(parsing: "[\(text)]")[0]?.int64 == value)
    }

    @Test(
        arguments: [
            ("0", 0), ("18446744073709551615", .max), ("1.8446744073709551615e19", .max), ("18446744073709551616", nil),
            ("-1", nil), ("-0", 0), ("0.5", nil),
        ] as [(String, UInt64?)])
    func isAUInt64IfExactlyOne(text: String, value: UInt64?) throws {
        #expect(try JSONValue(parsing: text).number?.uint64 == value)
    }

    @Test(
        arguments: [
            ("0.1", 0.1), ("1e400", nil), ("-1e400", nil), ("1e-400", 0), ("5e-324", .leastNonzeroMagnitude),
            ("1.7976931348623157e308", .greatestFiniteMagnitude), ("9007199254740993", 9_007_199_254_740_992),
        ] as [(String, Double?)])
    func roundsToTheNearestDouble(text: String, value: Double?) throws {
        #expect(try JSONValue(parsing: text).double == value)
    }

    @Test func minusZeroKeepsItsSignAsADouble() throws {
        #expect(try JSONValue(parsing: "-0").double?.sign == .minus)
        #expect(try JSONValue(parsing: "-0").text == "-0")
    }

    @Test(arguments: ["12345678901234567890", "1.10", "-0.0", "1E+02", "0.30000000000000000000000000000000001"])
    func keepsItsText(_ text: String) throws {
        #expect(try JSONValue(parsing: " [\(text)]")[0]?.number?.text == text)
        #expect(try JSONValue(parsing: "[\(text)]").text == "[\(text)]")
        #expect(JSONNumber(text)?.text == text)
    }

    @Test(arguments: ["", " 1", "1 ", "01", "+1", "NaN", "1.", "null", "\"1\"", "[1]", "1,2"])
    func refusesOtherTexts(_ text: String) { #expect(JSONNumber(text) == nil) }

    @Test(arguments: [0.0, -0.0, 1.5, 1e20, 1e-7, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 0.1 + 0.2])
    func writesDoublesThatReadBack(_ double: Double) throws {
        let text = try #require(JSONValue(double)).text
        #expect(try JSONValue(parsing: text).double?.bitPattern == double.bitPattern)
    }

    @Test func refusesDoublesThatJSONCannotWrite() {
        #expect(JSONNumber(Double.nan) == nil)
        #expect(JSONNumber(-Double.infinity) == nil)
    }
}
