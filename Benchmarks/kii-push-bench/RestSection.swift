import KiiPushCore

/// REST requests to a small C server: the library beside a C program on the same libcurl.
enum RestSection {
    private static let ours = "KiiPushCore"
    private static let floor = "C libcurl"

    static func run(_ bench: Workbench, into report: inout Report) throws {
        let server = try ChildProcess([bench.program("httpd")])
        defer { server.end() }
        let url = "http://127.0.0.1:\(try server.port())/api/apps/a/installations/b"
        for concurrent in [1, 32] {
            let count = bench.scaled(20_000)
            let arguments = [url, "\(count)", "\(concurrent)"]
            let results = try report.compare(
                "REST, \(concurrent) at a time",
                operation: "request",
                [
                    self.contender(self.floor, [bench.program("restfloor")] + arguments, count: count, bench),
                    self.contender(self.ours, bench.own(["rest"] + arguments), count: count, bench),
                ],
                repetitions: bench.repetitions
            )
            let (cpu, floorCPU) = (results[self.ours, "cpu"], results[self.floor, "cpu"])
            report.add(
                "REST, \(concurrent) at a time: user + system CPU a request",
                ours: Shown.microseconds(cpu),
                against: "\(self.floor) \(Shown.microseconds(floorCPU))",
                ratio: Shown.ratio(cpu / floorCPU),
                target: concurrent == 32 ? "<= 1.3x" : "",
                reached: concurrent == 32 ? cpu / floorCPU <= 1.3 : nil
            )
            let (time, floorTime) = (results[self.ours, "time"], results[self.floor, "time"])
            report.add(
                "  time a request",
                ours: Shown.microseconds(time),
                against: "\(self.floor) \(Shown.microseconds(floorTime))",
                ratio: Shown.ratio(time / floorTime),
                headline: "a request to the cloud, \(concurrent) at a time"
            )
        }
    }

    private static func contender(
        _ name: String,
        _ command: [String],
        count: Int,
        _ bench: Workbench
    ) -> Contender {
        Contender(name: name, count: count) {
            let outcome = try MeasuredProcess(command, bench).finish(count: count)
            guard let seconds = outcome.said["seconds"], let cpu = outcome.said["cpu"] else {
                throw ChildProcess.Failure(description: "\(name) failed")
            }
            var sample = outcome.usage
            sample["time"] = seconds / Double(count)
            sample["rate"] = Double(count) / seconds
            // The program's own CPU time excludes its start.
            sample["cpu"] = cpu / Double(count)
            return sample
        }
    }
}
