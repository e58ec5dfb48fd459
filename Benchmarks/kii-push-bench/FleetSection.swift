import Glibc

/// A fleet that loses its broker at one moment: how hard it comes back, and how soon, beside one with a fixed delay.
enum FleetSection {
    /// The share of the other fleet's peak that is allowed, and how soon most are to be back.
    private static let allowedShare = 0.2
    private static let allowedTime: Duration = .seconds(180)

    static func run(_ bench: Workbench, into table: inout Table) throws {
        let report = FleetReport()
        for run in report.runs {
            let share = Double(run.ours.peak) / Double(run.fixed.peak)
            table.add(
                "fleet of 100,000, broker away for \(run.outage.components.seconds) s: peak connects",
                ours: "\(run.ours.peak)/s",
                against: "fixed 10 s delay \(run.fixed.peak)/s",
                ratio: Shown.ratio(share),
                target: "<= 0.2x",
                reached: share <= self.allowedShare
            )
            table.add(
                "  95 % of it back after",
                ours: "\(Shown.decimals(run.ours.until95 / .seconds(1), 1)) s",
                against: "fixed 10 s delay \(Shown.decimals(run.fixed.until95 / .seconds(1), 1)) s",
                target: "<= 180 s",
                reached: run.ours.until95 <= self.allowedTime
            )
        }
        let plot = "\(bench.folder)/fleet.svg"
        let figures = "\(bench.folder)/fleet.md"
        try TextFile.write(report.plot, to: plot)
        try TextFile.write(report.summary + "\n" + report.overTime, to: figures)
        print("the fleet second by second: \(plot), \(figures)")
    }

    /// `kii-push-bench fleet FOLDER`: puts the plot and the figures into the page of the documentation.
    static func command(_ arguments: [String]) throws {
        guard arguments.count == 1 else { throw ChildProcess.Failure(description: "usage: fleet FOLDER") }
        let page = "\(arguments[0])/connection.md"
        let report = FleetReport()
        var lines: [Substring] = []
        var isInside = false
        for line in try TextFile.read(page).split(separator: "\n", omittingEmptySubsequences: false) {
            if line == "<!-- end of the simulation -->" { isInside = false }
            if !isInside { lines.append(line) }
            guard line == "<!-- the simulation: script/bench document -->" else { continue }
            isInside = true
            lines += ["", "![Connects per second over time](fleet.svg)", ""]
            lines += (report.summary + "\n" + report.overTime).split(separator: "\n", omittingEmptySubsequences: false)
        }
        try TextFile.write(report.plot, to: "\(arguments[0])/fleet.svg")
        try TextFile.write(lines.joined(separator: "\n"), to: page)
        print("written: \(page), \(arguments[0])/fleet.svg")
    }
}

/// Text on the disk, whole.
enum TextFile {
    static func read(_ path: String) throws -> String {
        guard let file = fopen(path, "r") else { throw ChildProcess.Failure(description: "cannot read \(path)") }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }

    static func write(_ text: String, to path: String) throws {
        guard let file = fopen(path, "w") else { throw ChildProcess.Failure(description: "cannot write \(path)") }
        let bytes = Array(text.utf8)
        let written = fwrite(bytes, 1, bytes.count, file)
        guard fclose(file) == 0, written == bytes.count else {
            throw ChildProcess.Failure(description: "cannot write \(path)")
        }
    }
}
