/// The day, the hardware and the versions of a run. `script/bench` writes them to a file, one fact a line: a name, a
/// tab, a value.
struct Machine {
    private var facts: [(name: String, value: String)] = []

    init(path: String) throws {
        for line in try TextFile.read(path).split(separator: "\n") {
            let parts = line.split(separator: "\t", maxSplits: 1)
            if parts.count == 2 { self.facts.append((String(parts[0]), String(parts[1]))) }
        }
    }

    subscript(name: String) -> String? { self.facts.first { $0.name == name }?.value }

    var table: Table {
        var table = Table(["machine", ""])
        for fact in self.facts { table.add([fact.name, fact.value]) }
        return table
    }
}
