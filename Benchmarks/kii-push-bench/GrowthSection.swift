import Glibc

/// The growth of costs with the rows in the inbox, with the length of a message, and with the number of sources.
enum GrowthSection {
    static func run(_ bench: Workbench, into report: inout Report) throws {
        try InboxGrowth.run(bench, into: &report)
        try self.payloads(bench, into: &report)
        try self.sources(bench, into: &report)
    }

    /// Measures payloads from 100 B to nearly the largest packet that libcurl delivers whole, through a whole agent.
    private static func payloads(_ bench: Workbench, into report: inout Report) throws {
        let sizes = [(100, "100 B"), (1 << 10, "1 KiB"), (16 << 10, "16 KiB"), ((256 << 10) - 64, "256 KiB")]
        let works = sizes.map { size, name in
            Work(
                name: name, payloads: [self.payload(bytes: size)],
                count: min(bench.scaled(20_000), bench.scaled(400 << 20) / size))
        }
        let results = try self.compare("messages of rising length, memory inbox, QoS 1", works, bench, into: &report)
        var (bytes, messages) = (GrowthTable("a byte of a message, memory inbox, QoS 1: CPU"), "")
        for (size, name) in sizes {
            let cpu = results[name, "cpu"]
            bytes.add(size, named: name, cost: cpu / size)
            messages += (messages.isEmpty ? "" : ", ") + "\(name) \(Shown.microseconds(cpu))"
        }
        bytes.print(into: &report) { Shown.spread($0, scale: 1e9, places: 2, unit: "ns") }
        report.add("  CPU a message", ours: messages)
    }

    /// Measures messages of 1 to 1,000 sources in turn, through a whole agent. A source is a topic or a bucket that the
    /// installation subscribed to at the cloud; the messages of all sources arrive on one MQTT topic.
    private static func sources(_ bench: Workbench, into report: inout Report) throws {
        let numbers = [1, 10, 100, 1_000]
        let works = numbers.map { number in
            Work(
                name: "\(number) in turn",
                payloads: (0..<number).map { self.payload(topic: "alarms\($0)", bytes: 200) },
                count: bench.scaled(100_000))
        }
        let results = try self.compare(
            "messages of 200 B of one of many topics, memory inbox, QoS 1", works, bench, into: &report)
        var growth = GrowthTable("a message, memory inbox, QoS 1, of one of many topics: CPU")
        for (number, work) in zip(numbers, works) {
            growth.add(number, named: work.name, cost: results[work.name, "cpu"])
        }
        growth.print(into: &report)
    }

    private struct Work {
        var name: String
        /// The payloads; the messages use them in turn.
        var payloads: [String]
        var count: Int
    }

    /// Runs one agent for each work, all agents in turn.
    private static func compare(
        _ title: String, _ works: [Work], _ bench: Workbench, into report: inout Report
    ) throws -> Results {
        let path = bench.program("payloads")
        defer { unlink(path) }
        let contenders = try works.map { work in
            try write(work.payloads.joined(separator: "\n") + "\n", to: path)
            let gateway = try Gateway(bench, inbox: "memory", count: 1, payload: path)
            // A warm-up, because the first messages of a process take longer.
            _ = try gateway.receive(max(work.count / 10, 1), by: "one")
            return Contender(name: work.name, count: work.count) { try gateway.receive(work.count, by: "one") }
        }
        return try report.compare(title, contenders, repetitions: bench.repetitions)
    }

    /// A push of `bytes` bytes whose data have as many members as fit.
    private static func payload(topic: String = "alarms", bytes: Int) -> String {
        var text = #"{"objectScopeType":"APP","topic":"\#(topic)","when":1463363201908"#
        var number = 0
        while text.utf8.count + 40 < bytes {
            text += #","d\#(number)":"boiler pressure 2""#
            number += 1
        }
        return text + #","t":""# + String(repeating: "x", count: max(0, bytes - text.utf8.count - 8)) + #""}"#
    }
}
