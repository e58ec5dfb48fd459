import KiiPushCore

/// Sends to a topic with a thousand subscribed installations, each timed until the broker has acknowledged the last
/// message.
enum FanOut {
    private static let topic = "bench"

    static func run(_ bench: Workbench, emulator: EmulatorProcess, into report: inout Report) async throws {
        let subscribers = bench.scaled(1_000)
        let sends = bench.scaled(50)
        let app = emulator.app
        let administrator = try await app.administrator()
        try await app.call("PUT", "topics/\(self.topic)", token: administrator)
        try await self.subscribe(subscribers, to: app)
        let payload = String(decoding: try readFile(bench.smallPayload), as: UTF8.self)
        let file = bench.program("send")
        try write(
            EmulatorSection.request(
                "POST",
                app.path("topics/\(self.topic)/push/messages"),
                token: administrator,
                type: "application/vnd.kii.SendPushMessageRequest+json",
                body: #"{"data":\#(payload),"mqtt":{"enabled":true}}"#
            ),
            to: file
        )
        let messages = subscribers * sends
        let (ours, peer) = ("emulator", "C publisher")
        let results = try report.compare(
            "emulator, \(sends) sends to \(subscribers) installations, one after the other",
            [
                Contender(name: peer, count: messages) {
                    let sample = try self.floor(bench, settings: emulator.brokerDirectory, count: messages)
                    return self.timed(sample, messagesASend: subscribers)
                },
                Contender(name: ours, count: messages) {
                    var sample = try EmulatorSection.sample(
                        bench, port: emulator.port, pid: emulator.child.pid, file, sends, 1)
                    sample["rate"]? *= Double(subscribers)
                    for name in ["cpu", "user", "system"] { sample[name]? /= Double(subscribers) }
                    return self.timed(sample, messagesASend: subscribers)
                },
            ],
            repetitions: bench.repetitions
        )
        report.add(
            "emulator, a send to \(subscribers) installations",
            ours: Shown.milliseconds(results[ours, "send"]),
            against: "\(peer) \(Shown.milliseconds(results[peer, "send"]))",
            ratio: Shown.ratio(results[ours, "send"] / results[peer, "send"])
        )
        report.add(
            "  the emulator's CPU a message",
            ours: Shown.microseconds(results[ours, "cpu"]),
            against: Shown.microseconds(results[peer, "cpu"]),
            ratio: Shown.ratio(results[ours, "cpu"] / results[peer, "cpu"])
        )
    }

    /// Adds `send`, the seconds of one send.
    private static func timed(_ sample: Sample, messagesASend: Int) -> Sample {
        sample.merging(["send": Double(messagesASend) / (sample["rate"] ?? .nan)]) { $1 }
    }

    private static func subscribe(_ count: Int, to app: EmulatedApp) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<64 {
                group.addTask {
                    for _ in stride(from: worker, to: count, by: 64) {
                        let user = try await app.user()
                        _ = try await app.installation(token: user.token)
                        let subscription = "topics/\(self.topic)/push/subscriptions/users/\(user.id)"
                        try await app.call("PUT", subscription, token: user.token)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Publishes to a broker with the emulator's settings, but open to every client.
    private static func floor(_ bench: Workbench, settings directory: String, count: Int) throws -> Sample {
        let port = try freePort()
        let folder = bench.program("broker-\(port)")
        defer { Workbench.remove(folder) }
        guard try ChildProcess(["mkdir", "-p", folder]).wait().succeeded else {
            throw ChildProcess.Failure(description: "cannot make \(folder)")
        }
        let own = [
            "listener", "certfile", "keyfile", "password_file", "acl_file", "persistence_location", "allow_", "log_",
        ]
        let settings = String(decoding: try readFile("\(directory)/mosquitto.conf"), as: UTF8.self)
            .split(separator: "\n").filter { line in !own.contains { line.hasPrefix($0) } }
        let lines =
            settings.map { String($0) } + [
                "allow_anonymous true", "log_dest none", "persistence_location \(folder)/",
                "listener \(port) 127.0.0.1", "",
            ]
        try write(lines.joined(separator: "\n"), to: "\(folder)/mosquitto.conf")
        let broker = try ChildProcess(["mosquitto", "-c", "\(folder)/mosquitto.conf"])
        defer { broker.end() }
        try waitUntilListening(port)
        let command = [bench.program("flood"), "\(port)", "push/0123456789abcd", bench.smallPayload, "\(count)", "1"]
        let outcome = try MeasuredProcess(command, bench).finish(count: count)
        guard let seconds = outcome.said["seconds"] else {
            throw ChildProcess.Failure(description: "the C publisher failed")
        }
        return outcome.usage.merging(["rate": Double(count) / seconds]) { $1 }
    }
}
