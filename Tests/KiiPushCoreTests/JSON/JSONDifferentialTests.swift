import Foundation
import KiiPushCore
import SeededNumbers
import Testing

/// Foundation's parser as a second opinion. `someDecisionsDiffer` lists the intended differences.
@Suite struct JSONDifferentialTests {
    @Test(arguments: 0..<40 as Range<UInt64>)
    func generatedDocumentsMeanTheSame(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let document = JSONGenerator.document(using: &generator)
            let ours = try JSONValue(parsing: document)
            let theirs = try foundationValue(document)
            #expect(matches(ours, theirs), "\(document)")
            #expect(try JSONValue(parsing: ours.serialized(.lines)) == ours, "\(document)")
            #expect(matches(ours, try foundationValue(ours.text)), "\(document)")
        }
    }

    @Test(arguments: 0..<40 as Range<UInt64>)
    func damagedDocumentsAreRefusedByBothOrNeither(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            var bytes = Array(JSONGenerator.document(using: &generator).utf8)
            JSONGenerator.damage(&bytes, using: &generator)
            let ours = try? JSONValue(parsing: bytes)
            let theirs = try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
            // Foundation refuses a number that exceeds `Double`; `JSONValue` keeps its text.
            let isKnownDifference = theirs == nil && ours.map(holdsNumberBeyondDouble) == true
            #expect((ours != nil) == (theirs != nil) || isKnownDifference, "\(bytes)")
        }
    }

    @Test(arguments: 0..<10 as Range<UInt64>)
    func decodablesSeeTheSameValues(_ seed: UInt64) throws {
        struct Sample: Codable, Equatable {
            var doubles: [Double]
            var integers: [Int64?]
            var texts: [String: String]
            var nested: [[Bool]]
        }
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let sample = Sample(
                doubles: (0..<4).map { _ in Double(bitPattern: generator.next()) }.filter(\.isFinite),
                integers: [Int64(truncatingIfNeeded: generator.next()), nil, 0, .min, .max],
                texts: ["a": "\u{0}\n\"\\/é😀", "\(generator.next())": String(generator.next(), radix: 36)],
                nested: [[], [Bool.random(using: &generator), true]]
            )
            let bytes = try Array(JSONEncoder().encode(sample))
            #expect(try JSONValue(parsing: bytes).decode(Sample.self) == sample)
            let rewritten = try JSONValue(parsing: bytes).serialized(.lines, sortedKeys: true)
            #expect(try JSONDecoder().decode(Sample.self, from: Data(rewritten)) == sample)
        }
    }

    @Test func valuesGoThroughFoundationsCoders() throws {
        let text = #"{"a":[1,-2.5,18446744073709551615,true,null,"x"],"b":{"c":{}}}"#
        let value = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
        #expect(value == (try JSONValue(parsing: text)))
        #expect(try JSONValue(parsing: Array(JSONEncoder().encode(value))) == value)
    }

    /// Each text with two answers: whether `JSONValue` accepts it, and whether Foundation does.
    @Test(arguments: [
        ("1e400", true, false),  // kept as text; it has no Double
        ("\u{FEFF}[]", false, true),  // RFC 8259 section 8.1 lets a parser refuse a byte order mark
        (String(repeating: "[", count: 65) + String(repeating: "]", count: 65), false, true),  // 64 levels
    ])
    func someDecisionsDiffer(text: String, ours: Bool, theirs: Bool) {
        #expect(((try? JSONValue(parsing: text)) != nil) == ours)
        #expect(((try? foundationValue(text)) != nil) == theirs)
    }
}

private func holdsNumberBeyondDouble(_ value: JSONValue) -> Bool {
    if value.kind == .number { return value.double == nil }
    return (value.array ?? value.members?.map(\.value) ?? []).contains(where: holdsNumberBeyondDouble)
}

private func foundationValue(_ text: String) throws -> Any {
    try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
}

/// Numbers may differ by rounding.
private func matches(_ ours: JSONValue, _ theirs: Any) -> Bool {
    switch theirs {
    case let string as String: return ours.string == string
    case let number as NSNumber:
        if let bool = ours.bool { return number.boolValue == bool }
        guard let double = ours.double else { return false }
        return abs(double - number.doubleValue) <= 4 * double.ulp
    case is NSNull: return ours.isNull
    case let array as [Any]:
        guard let elements = ours.array, elements.count == array.count else { return false }
        return zip(elements, array).allSatisfy(matches)
    case let object as [String: Any]:
        guard let members = ours.members, members.count == object.count else { return false }
        return members.allSatisfy { member in object[member.key].map { matches(member.value, $0) } ?? false }
    default: return false
    }
}
