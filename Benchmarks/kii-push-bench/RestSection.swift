import KiiPushCore

/// REST requests against a small C server: ours beside a C program on the same libcurl.
enum RestSection {
    static func run(_ bench: Workbench, into table: inout Table) throws {
        let server = try ChildProcess([bench.program("httpd")])
        defer { server.end() }
        let url = "http://127.0.0.1:\(try server.port())/api/apps/a/installations/b"
        for concurrent in [1, 32] {
            let count = bench.scaled(20_000)
            let arguments = [url, "\(count)", "\(concurrent)"]
            let medians = try interleaved(
                [
                    Contender(name: "floor") { try self.sample([bench.program("restfloor")] + arguments) },
                    Contender(name: "ours") { try self.sample(bench.own(["rest"] + arguments)) },
                ],
                repetitions: bench.repetitions
            )
            let (ours, floor) = (medians["ours"] ?? [:], medians["floor"] ?? [:])
            let cpu = (ours["cpu"] ?? .nan) / (floor["cpu"] ?? .nan)
            table.add(
                "REST, \(concurrent) at a time: user + system CPU a request",
                ours: Shown.microseconds(ours["cpu"] ?? 0),
                against: "C libcurl \(Shown.microseconds(floor["cpu"] ?? 0))",
                ratio: Shown.ratio(cpu),
                target: concurrent == 32 ? "<= 1.3x" : "",
                reached: concurrent == 32 ? cpu <= 1.3 : nil
            )
            table.add(
                "  time a request",
                ours: Shown.microseconds(ours["time"] ?? 0),
                against: "C libcurl \(Shown.microseconds(floor["time"] ?? 0))",
                ratio: Shown.ratio((ours["time"] ?? .nan) / (floor["time"] ?? .nan))
            )
        }
    }

    private static func sample(_ command: [String]) throws -> Sample {
        let child = try ChildProcess(command)
        let result = fields(of: child.nextLine() ?? "")
        guard child.wait().succeeded, let count = result["requests"], let seconds = result["seconds"],
            let cpu = result["cpu"]
        else { throw ChildProcess.Failure(description: "\(command[0]) failed") }
        return ["time": seconds / count, "cpu": cpu / count]
    }
}
