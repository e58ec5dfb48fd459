struct Comparison {
    var title: String
    /// The repeated operation, such as `message`.
    var operation: String
    /// The contenders' names, and the number of operations in a run.
    var contenders: [(name: String, count: Int)]
    var results: Results

    var table: Table {
        var table = Table([
            "contender", "\(self.operation)s", "a second", "user us/\(self.operation)",
            "system us/\(self.operation)", "wall s", "peak MiB",
        ])
        for (name, count) in self.contenders {
            table.add([
                name, "\(count)", Shown.rate(self.results[name, "rate"]),
                Shown.microseconds(self.results[name, "user"], unit: ""),
                Shown.microseconds(self.results[name, "system"], unit: ""),
                Shown.spread(self.results[name, "wall"], scale: 1, places: 2),
                Shown.spread(self.results[name, "peak"], scale: 1 / 1_048_576, places: 1),
            ])
        }
        return table
    }
}
