struct Options {
    var seeds = 10_000
    var first: UInt64 = 1
    var jobs: Int?
    /// The run ends after this number of failed histories.
    var failures = 20
    /// The seed of a single history to replay, with only these elements of its plan.
    var seed: UInt64?
    var elements: [Int]?

    static let usage = """
        usage: kii-push-simulate [--seeds N] [--from SEED] [--jobs N] [--failures N] | --seed SEED [--only I,J,…]
        """

    init?(_ arguments: [String]) {
        var rest = arguments[...]
        var names: Set<String> = []
        while let name = rest.popFirst() {
            names.insert(name)
            guard let value = rest.popFirst() else { return nil }
            switch name {
            case "--seeds":
                guard let seeds = Int(value), seeds > 0 else { return nil }
                self.seeds = seeds
            case "--from":
                guard let first = UInt64(value) else { return nil }
                self.first = first
            case "--failures":
                guard let failures = Int(value), failures > 0 else { return nil }
                self.failures = failures
            case "--jobs":
                guard let jobs = Int(value), (1...256).contains(jobs) else { return nil }
                self.jobs = jobs
            case "--seed":
                guard let seed = UInt64(value) else { return nil }
                self.seed = seed
            case "--only":
                let elements = value.split(separator: ",").map { Int($0) }
                guard elements.allSatisfy({ $0 != nil }) else { return nil }
                self.elements = elements.compactMap(\.self)
            default: return nil
            }
        }
        if self.elements != nil, self.seed == nil { return nil }
        if self.seed != nil, !names.isSubset(of: ["--seed", "--only"]) { return nil }
        if UInt64(self.seeds) > UInt64.max - self.first { return nil }
    }
}
