/// The values of one run of one contender, by name.
///
/// The report shows these names for every contender: `rate`, operations a second; `user` and `system`, CPU seconds of
/// an operation (`cpu` is their sum); `wall`, the seconds of the run; `peak`, the most resident memory in bytes.
typealias Sample = [String: Double]

/// One of several programs or functions that are measured side by side.
struct Contender {
    var name: String
    /// The number of operations in a run.
    var count: Int
    var run: () throws -> Sample
}

struct Results {
    private var figures: [String: [String: Figure]] = [:]

    fileprivate init(_ samples: [String: [Sample]]) {
        self.figures = samples.mapValues { runs in
            let names = Set(runs.flatMap(\.keys))
            return Dictionary(uniqueKeysWithValues: names.map { name in (name, Figure(runs.compactMap { $0[name] })) })
        }
    }

    subscript(contender: String, name: String) -> Figure { self.figures[contender]?[name] ?? Figure([]) }
}

/// Runs the contenders in turn, A B C A B C …, so that a noisy moment affects all of them.
func interleaved(_ contenders: [Contender], repetitions: Int) throws -> Results {
    var samples: [String: [Sample]] = [:]
    for _ in 0..<repetitions {
        for contender in contenders {
            samples[contender.name, default: []].append(try contender.run())
        }
    }
    return Results(samples)
}

func fields(of line: String) -> Sample {
    var sample: Sample = [:]
    for word in line.split(separator: " ") {
        let parts = word.split(separator: "=")
        if parts.count == 2, let value = Double(parts[1]) { sample[String(parts[0])] = value }
    }
    return sample
}
