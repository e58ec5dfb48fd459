import KiiPushCore

/// The emulator as it is shipped: the cost of a request beside libmicrohttpd alone, and of a send to a thousand
/// installations beside a C program that publishes as many messages to such a broker.
enum EmulatorSection {
    private static let connections = 32

    static func run(_ bench: Workbench, into report: inout Report) async throws {
        let folder = bench.program("emulator")
        defer { Workbench.remove(folder) }
        let emulator = try EmulatorProcess(program: bench.program("kii-push-emulator"), folder: folder)
        defer { emulator.child.end() }
        let user = try await emulator.app.user()
        let installation = try await emulator.app.installation(token: user.token)
        try await self.requests(
            Load(
                name: "GET of an installation",
                request: self.request("GET", emulator.app.path("installations/\(installation)"), token: user.token),
                count: bench.scaled(20_000)
            ),
            to: emulator,
            bench,
            into: &report
        )
        try await self.requests(
            Load(
                name: "PUT of an object, committed",
                request: self.request(
                    "PUT",
                    emulator.app.path("users/\(user.id)/buckets/bench/objects/o00000000"),
                    token: user.token,
                    type: "application/json",
                    body: #"{"text":"\#(String(repeating: "x", count: 100))"}"#
                ),
                count: bench.scaled(2_000),
                isCommitted: true
            ),
            to: emulator,
            bench,
            into: &report
        )
        try await FanOut.run(bench, emulator: emulator, into: &report)
    }

    private struct Load {
        var name: String
        var request: String
        var count: Int
        var isCommitted = false
    }

    private static func requests(
        _ load: Load,
        to emulator: EmulatorProcess,
        _ bench: Workbench,
        into report: inout Report
    ) async throws {
        let file = bench.program("request")
        try write(load.request, to: file)
        let database = bench.program("floor.sqlite")
        defer { for suffix in ["", "-wal", "-shm"] { Workbench.remove(database + suffix) } }
        let floor = try ChildProcess([bench.program("mhdfloor")] + (load.isCommitted ? [database] : []))
        defer { floor.end() }
        let floorPort = try floor.port()
        for concurrent in [1, self.connections] {
            let (ours, peer) = ("emulator", "libmicrohttpd\(load.isCommitted ? ", SQLite" : "")")
            let servers = [
                (name: peer, port: floorPort, pid: floor.pid),
                (name: ours, port: emulator.port, pid: emulator.child.pid),
            ]
            let results = try report.compare(
                "emulator, \(concurrent) at a time: \(load.name) (of the server)",
                operation: "request",
                servers.map { server in
                    Contender(name: server.name, count: load.count) {
                        try self.sample(bench, port: server.port, pid: server.pid, file, load.count, concurrent)
                    }
                },
                repetitions: bench.repetitions
            )
            report.add(
                "emulator, \(concurrent) at a time: \(load.name)",
                ours: Shown.rate(results[ours, "rate"]),
                against: "\(peer) \(Shown.rate(results[peer, "rate"]))",
                ratio: Shown.ratio(results[ours, "rate"] / results[peer, "rate"])
            )
            report.add(
                "  the server's CPU a request",
                ours: Shown.microseconds(results[ours, "cpu"]),
                against: Shown.microseconds(results[peer, "cpu"]),
                ratio: Shown.ratio(results[ours, "cpu"] / results[peer, "cpu"])
            )
        }
    }

    static func request(
        _ method: String,
        _ target: String,
        token: String,
        type: String? = nil,
        body: String? = nil
    ) -> String {
        var lines = ["\(method) \(target) HTTP/1.1", "Host: 127.0.0.1", "Authorization: Bearer \(token)"]
        if let type { lines.append("Content-Type: \(type)") }
        if let body { lines.append("Content-Length: \(body.utf8.count)") }
        return lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? "")
    }

    /// Sends the request in `file` `count` times to the server that is process `pid`. Returns the server's values.
    static func sample(
        _ bench: Workbench,
        port: Int,
        pid: Int32,
        _ file: String,
        _ count: Int,
        _ connections: Int
    ) throws -> Sample {
        let (before, timesBefore) = (runSeconds(of: pid), processTimes(of: pid))
        let load = try ChildProcess([bench.program("load"), "\(port)", file, "\(count)", "\(connections)"])
        let result = fields(of: load.nextLine() ?? "")
        guard load.wait().succeeded, let seconds = result["seconds"] else {
            throw ChildProcess.Failure(description: "a request of \(file) was not answered with success")
        }
        let times = processTimes(of: pid)
        return [
            "rate": Double(count) / seconds, "wall": seconds, "peak": peakBytes(of: "\(pid)"),
            "cpu": (runSeconds(of: pid) - before) / Double(count),
            "user": (times.user - timesBefore.user) / Double(count),
            "system": (times.system - timesBefore.system) / Double(count),
        ]
    }
}
