import Glibc

/// The bytes that an agent writes to its disk for each message, at several rates of messages. Writes wear flash memory.
enum FlashSection {
    static func run(_ bench: Workbench, into report: inout Report) throws {
        for rate in [1, 10, 100] {
            let bytes = try self.bytes(bench, aSecond: rate)
            report.add(
                "written to the disk for a message of 200 B, file inbox, \(rate) a second",
                ours: "\(Shown.decimals(bytes / 1024, 1)) KiB",
                headline: "bytes written to the disk for a message, inbox in a file, \(rate) a second"
            )
        }
    }

    private static func bytes(_ bench: Workbench, aSecond rate: Int) throws -> Double {
        let hold = try ChildProcess([bench.program("hold"), bench.smallPayload], takesInput: true)
        defer { hold.end() }
        let directory = try AgentReceiver.makeStateDirectory(in: bench.folder, port: try hold.port())
        defer { Workbench.remove(directory) }
        let agent = try ChildProcess(bench.own(["agent", "idle", directory, "1"]))
        defer { agent.end() }
        _ = try hold.answer(to: "wait 1")
        let count = rate * (bench.isQuick ? 3 : 60)
        let before = writtenBytes(by: agent.pid)
        _ = try hold.answer(to: "send \(count) one \(1_000_000 / rate)")
        // The agent stores the last verdict after the message's acknowledgement.
        usleep(1_000_000)
        return (writtenBytes(by: agent.pid) - before) / Double(count)
    }
}
