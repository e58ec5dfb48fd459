import Foundation
import Glibc
import KiiPushCore
import SeededNumbers
import TestSupport
import Testing

/// A program with this library that is started for messages.
@Suite(.timeLimit(.minutes(15))) struct ActivatedAgentTests {
    /// The numbers that the example program has noted, in its order.
    private func noted(_ journal: String) -> [Int] {
        let text = (try? String(contentsOfFile: journal, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { Int($0.split(separator: " ")[0]) }
    }

    @Test func itReceivesFromWhoStartedItAndEndsWithThat() async throws {
        try await withActivationStage { stage in
            let journal = "\(stage.directory)/journal"
            let ended = Locked<String?>(nil)
            let report = ActivationStage.Report()
            let activator = Activator(configuration: stage.example(journal: journal), report: { report.add($0) })
            let agent = PushAgent(
                runtime: stage.runtime, configuration: stage.configuration, handler: activator, reconnect: .quick)
            let events = agent.events
            try await whileRunning(agent) {
                let kept = try await stage.broker.bring((1...20).map { .message($0, packetID: UInt16($0)) })
                _ = await ActivationStage.happens(20, in: events) { $0 == .done(.newData, attempt: 1) }
                withExtendedLifetime(kept) {}
            }
            await activator.stop()
            #expect(await report.nextStart() != nil)
            let how = await report.nextEnd()
            ended.withLock { $0 = how }
            #expect(ended.withLock { $0 } == "exit status 0")
            // One source: in their order.
            #expect(self.noted(journal) == Array(1...20))
        }
    }

    @Test(arguments: [UInt64(1), 2])
    func nothingIsLostThoughTheProgramIsKilledAtRandom(seed: UInt64) async throws {
        try await withActivationStage { stage in
            let journal = "\(stage.directory)/journal"
            let (kills, total) = (Locked(0), 200)
            try await stage.play(stage.example(journal: journal)) { events, report in
                let killer = Task {
                    var random = SeededGenerator(seed: seed)
                    while let processID = await report.nextStart() {
                        // Amid its start, its first messages or many of them.
                        try await Task.sleep(for: .microseconds(Int.random(in: 0...60_000, using: &random)))
                        // The group, which is its own as long as it is not reaped.
                        if kill(-processID, SIGKILL) == 0 { kills.withLock { $0 += 1 } }
                    }
                }
                defer { killer.cancel() }
                let kept = try await stage.broker.play { broker in
                    let connection = try broker.acceptSession()
                    for number in 1...total {
                        try connection.send(.message(number, packetID: UInt16(number)))
                        _ = try connection.receiveAcknowledgements(1)
                    }
                    return connection
                }
                var open = Set((1...total).map(Int64.init))
                for await event in events {
                    guard case .message(let message) = event else { continue }
                    switch message.kind {
                    case .done, .dead: open.remove(message.messageID)
                    default: break
                    }
                    if open.isEmpty { break }
                }
                withExtendedLifetime(kept) {}
            }
            let ledger = try await stage.runtime.ledger()
            let noted = self.noted(journal)
            print(
                """
                | activation, seed \(seed) | messages \(total) | kills \(kills.withLock { $0 }) | done \(ledger.done) \
                | dead \(ledger.dead) | lost \(Int64(total) - ledger.done - ledger.dead) \
                | handled twice \(noted.count - Set(noted).count) |
                """)
            #expect(ledger.done + ledger.dead == Int64(total))
            #expect(kills.withLock { $0 } > 0)
            // What is done was noted, whatever else was.
            #expect(Set(noted).count >= Int(ledger.done))
        }
    }

    @Test(arguments: [
        ("77", "names descriptor 77, which is closed"),
        ("1", "is no number of a descriptor above 2"),
        ("three", "is no number of a descriptor above 2"),
    ])
    func aForgedDescriptorIsRefused(value: String, reason: String) async throws {
        try await withTemporaryDirectory { directory in
            let program = try ChildProgram(
                [productsDirectory.appending(path: "ActivatedAgent").path, "\(directory)/journal"],
                environment: [
                    "KII_APP_ID": "app", "KII_APP_KEY": "key", "KII_BASE_URL": "http://127.0.0.1:1/api",
                    "STATE_DIRECTORY": directory, "KII_PUSH_LAUNCH_FD": value, "SWIFT_BACKTRACE": "enable=no",
                ])
            let status = try await onThread { program.wait() }
            #expect(status != 0)
            #expect(program.errors.all().contains("KII_PUSH_LAUNCH_FD \(reason)"))
        }
    }
}
