/// Writes a run's report: always into the build folder, and with `--report` also into pages of the documentation.
struct ReportFiles {
    let bench: Workbench
    let report: Report

    /// Writes `report.md` and, if receivers were measured, `receive.svg` into the build folder.
    func write() throws {
        let page = "\(self.bench.folder)/report.md"
        let parts = ["# A run of script/bench", Self.method, self.figures(plot: "receive.svg")]
        try TextFile.write(parts.joined(separator: "\n\n"), to: page)
        try self.plot(to: "\(self.bench.folder)/receive.svg")
        print("written: \(page)")
    }

    /// The pages in `folder` that contain the results: the short table for users, and the whole report.
    static func pages(in folder: String) -> (short: MarkedPage, whole: MarkedPage) {
        func page(_ name: String) -> MarkedPage {
            MarkedPage(
                path: "\(folder)/\(name).md",
                begin: "<!-- a run: script/bench --report Documentation -->",
                end: "<!-- end of the run -->"
            )
        }
        return (page("performance"), page("measurements"))
    }

    /// Writes the figures into `performance.md` and `measurements.md` of a folder, and the plot beside them.
    func publish(in folder: String) throws {
        guard self.report.failures.isEmpty else {
            throw ChildProcess.Failure(description: "nothing is written to \(folder): the run is not whole")
        }
        let pages = Self.pages(in: folder)
        try pages.short.replace(with: self.headlines(plot: "performance.svg"))
        try pages.whole.replace(with: self.figures(plot: "performance.svg"))
        try self.plot(to: "\(folder)/performance.svg")
        print("written: \(pages.short.path), \(pages.whole.path), \(folder)/performance.svg")
    }

    private func plot(to path: String) throws {
        guard !self.report.plotted.isEmpty else { return }
        try TextFile.write(ReceivePlot(self.report.plotted).svg, to: path)
    }

    private func headlines(plot: String) -> String {
        [self.report.headlines.text, Self.image(plot)].joined(separator: "\n\n") + "\n"
    }

    private func figures(plot: String) -> String {
        var parts = [self.bench.machine.table.text, self.extent]
        if !self.report.plotted.isEmpty { parts.append(Self.image(plot)) }
        return (parts + [self.report.text]).joined(separator: "\n\n") + "\n"
    }

    private static func image(_ plot: String) -> String { "![Messages a second of each receiver](\(plot))" }

    private var extent: String {
        let runs =
            "Each contender ran " + (self.bench.repetitions == 1 ? "once" : "\(self.bench.repetitions) times")
            + ", where its row says nothing else"
        return self.bench.isQuick
            ? "\(runs), with a tenth of the messages: a smoke run, whose numbers mean little." : "\(runs)."
    }

    private static let method = """
        The contenders of a comparison run in turn, A B C A B C. A figure is the median of its runs, with the least and the \
        most in brackets; a ratio is one of medians. CPU and memory are those of a receiver with all that it starts, \
        from start to end (wait4(2)). Receivers are measured against a C program that sends prebuilt packets as fast as \
        they are taken. `Documentation/measurements.md` tells the whole of it.
        """
}
