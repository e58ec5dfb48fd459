import KiiPushCore
import SeededNumbers
import Testing

@Suite struct SequenceMapTests {
    @Test(arguments: [1, 2, 3] as [UInt64]) func holdsWhatADictionaryHolds(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var map = SequenceMap<Int>()
        var dictionary: [Int64: Int] = [:]
        var last: Int64 = -300
        for step in 0..<20_000 {
            last += 1
            map[last] = step
            dictionary[last] = step
            // Most entries are removed soon, and a few much later. Some look-ups find nothing.
            let distance = Int64.random(in: 0..<(step % 10 == 0 ? 5_000 : 20), using: &random)
            let other = last - distance
            #expect(map[other] == dictionary[other])
            if Bool.random(using: &random) {
                map[other] = nil
                dictionary[other] = nil
            } else if dictionary[other] != nil {
                map[other] = -step
                dictionary[other] = -step
            }
            #expect(map.count == dictionary.count)
        }
        var found: [Int64: Int] = [:]
        map.forEach { sequence, value in #expect(found.updateValue(value, forKey: sequence) == nil) }
        #expect(found == dictionary)
        for sequence in dictionary.keys { map[sequence] = nil }
        #expect(map.count == 0)
        map.forEach { sequence, _ in Issue.record("\(sequence) is there still") }
    }

    @Test func takesTheExtremes() {
        var map = SequenceMap<Void>()
        for sequence in [Int64.min, -1, 0, 255, 256, .max] {
            #expect(map[sequence] == nil)
            map[sequence] = ()
            #expect(map[sequence] != nil)
        }
        #expect(map.count == 6)
    }
}
