/// What one run of one contender gave, by name: a rate, a time, the CPU an operation took.
typealias Sample = [String: Double]

/// One of several things that are measured side by side.
struct Contender {
    var name: String
    var run: () throws -> Sample
}

/// Runs the contenders in turn, A B C A B C …, so that a noisy moment hits them all, and returns the medians by
/// contender and name.
func interleaved(_ contenders: [Contender], repetitions: Int) throws -> [String: Sample] {
    var samples: [String: [Sample]] = [:]
    for _ in 0..<repetitions {
        for contender in contenders {
            samples[contender.name, default: []].append(try contender.run())
        }
    }
    return samples.mapValues { runs in
        let names = Set(runs.flatMap(\.keys))
        return Sample(uniqueKeysWithValues: names.map { name in (name, median(runs.compactMap { $0[name] })) })
    }
}

/// The middle value; of an even number, the upper of the two.
func median(_ values: [Double]) -> Double {
    values.isEmpty ? .nan : values.sorted()[values.count / 2]
}

/// Reads `name=value` words.
func fields(of line: String) -> Sample {
    var sample: Sample = [:]
    for word in line.split(separator: " ") {
        let parts = word.split(separator: "=")
        if parts.count == 2, let value = Double(parts[1]) { sample[String(parts[0])] = value }
    }
    return sample
}
