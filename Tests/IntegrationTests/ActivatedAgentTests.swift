import Foundation
import Glibc
import SeededNumbers
import TestSupport
import TestTraits
import Testing

@testable import KiiPushActivation
@testable import KiiPushCore

@Suite(.ownThreads) struct ActivatedAgentTests {
    /// The message numbers in the example program's journal, in order.
    private func noted(_ journal: String) -> [Int] {
        let text = (try? String(contentsOfFile: journal, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { $0.split(separator: " ").first.flatMap { Int($0) } }
    }

    @Test func itReceivesFromWhoStartedItAndEndsWithThat() async throws {
        try await withActivationStage { stage in
            let journal = "\(stage.directory)/journal"
            let report = ActivationStage.Report()
            let activator = Activator(configuration: stage.example(journal: journal), report: { report.add($0) })
            let agent = PushAgent(
                runtime: stage.runtime, configuration: stage.configuration, handler: activator, reconnect: .quick)
            let events = agent.events
            try await whileRunning(agent) {
                let kept = try await stage.broker.bring((1...20).map { .message($0, packetID: UInt16($0)) })
                _ = await ActivationStage.happens(20, in: events) { $0 == .done(.newData, attempt: 1, isLate: false) }
                withExtendedLifetime(kept) {}
            }
            await activator.stop()
            #expect(await report.nextStart() != nil)
            #expect(await report.nextEnd() == "exit status 0")
            // All messages have one source, so they keep their order.
            #expect(self.noted(journal) == Array(1...20))
        }
    }

    /// Two programs: one with this library, and a shell that answers with lines. The shell sometimes exits after an
    /// answer, while the next message may already be on its way.
    @Test(arguments: ["library", "shell"], [UInt64(1), 2])
    func nothingIsLostThoughTheProgramIsKilledAtRandom(program: String, seed: UInt64) async throws {
        try await withActivationStage { stage in
            let journal = "\(stage.directory)/journal"
            let shell = ActivationStage.shell(
                """
                while read -r line <&3; do
                    # On a busy machine it would have ended before it is killed.
                    [ -e \(journal).killed ] || exec sleep 1000
                    id=${line#*:}; id=${id%%,*}
                    echo "$id" >> \(journal)
                    printf '{"id":%d,"result":"newData"}\\n' "$id" >&3
                    ((RANDOM % 8)) || exit 0
                done
                """)
            let (kills, total) = (Locked(0), 200)
            let hasKilled = DispatchSemaphore(value: 0)
            try await stage.play(program == "shell" ? shell : stage.example(journal: journal)) { events, report in
                let killer = Task {
                    var random = SeededGenerator(seed: seed)
                    // There are fewer kills than attempts, so no message becomes a dead letter even if each process
                    // handles nothing. During the first half of the kills the shell only sleeps.
                    while kills.withLock({ $0 }) < ActivationStage.attempts / 2,
                        let processID = await report.nextStart()
                    {
                        // The kill hits the start of the process, its first messages, or a later one.
                        let longest = 60_000
                        try await Task.sleep(for: .microseconds(Int.random(in: 0...longest, using: &random)))
                        // The process leads its group. The group's number stays reserved until the agent has reaped the
                        // process.
                        guard kill(-processID, SIGKILL) == 0 else { continue }
                        let count = kills.withLock { kills in
                            kills += 1
                            return kills
                        }
                        if count == ActivationStage.attempts / 4 { try OwnFile.replace("\(journal).killed", with: []) }
                        hasKilled.signal()
                    }
                }
                defer { killer.cancel() }
                let kept = try await stage.broker.play { broker in
                    let connection = try broker.acceptSession()
                    for number in 1...total {
                        try connection.send(.message(number, packetID: UInt16(number)))
                        _ = try connection.receiveAcknowledgements(1)
                        // This wait lets the killer run on a busy machine, before all messages are handled.
                        if number == 20 { #expect(hasKilled.wait(timeout: .now() + 600) == .success) }
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
            let lost = Set(1...total).subtracting(noted)
            print(
                """
                | activation, \(program), seed \(seed) | messages \(total) | kills \(kills.withLock { $0 }) \
                | done \(ledger.done) | dead \(ledger.dead) | lost \(lost.count) \
                | handled twice \(noted.count - Set(noted).count) |
                """)
            #expect(kills.withLock { $0 } > 0)
            #expect(ledger.dead == 0)
            #expect(ledger.done == Int64(total))
            #expect(lost == [])
        }
    }

    /// As in the process with the connection, a late success counts until the next attempt, here in ten minutes.
    @Test func aSuccessAfterTheDeadlineCountsFromAnActivatedProgramAsWell() async throws {
        try await withActivationStage(deadline: .seconds(3), pause: .seconds(600)) { stage in
            let journal = "\(stage.directory)/journal"
            var configuration = stage.example(journal: journal)
            configuration.command = [productsDirectory.appending(path: "OpeningAgent").path, journal]
            try await stage.play(configuration) { events, report in
                let message = MQTTPublish(
                    topic: "topic-1", payload: Array(#"{"do":"answerLate"}"#.utf8), qos: .atLeastOnce,
                    duplicate: false, packetID: 1)
                let kept = try await stage.broker.bring([.publish(message)])
                let end = await ActivationStage.happens(in: events) { if case .done = $0 { true } else { false } }
                #expect(end == .done(.newData, attempt: 1, isLate: true))
                #expect(await report.nextStart() != nil)
                withExtendedLifetime(kept) {}
            }
            let lines = try String(contentsOfFile: journal, encoding: .utf8).split(separator: "\n")
            #expect(lines.last == "answered late: true")
        }
    }

    /// A channel on one end of a socket pair; `body` gets the other end.
    private func channel(_ body: (FileDescriptor) -> Void) throws -> LaunchChannel {
        let (ours, theirs) = try FileDescriptor.connectedPair()
        body(ours)
        // `LaunchChannel` and `FileDescriptor` each close a descriptor, so the channel gets a duplicate.
        return try LaunchChannel(descriptor: dup(theirs.number))
    }

    private func send(_ text: String, to descriptor: FileDescriptor) {
        let bytes = Array(text.utf8)
        #expect(write(descriptor.number, bytes, bytes.count) == bytes.count)
    }

    @Test(arguments: [
        ("", "names a descriptor, over which no message came"),
        ("{}\n", "names a descriptor that does not speak the protocol (/id is missing)"),
        ("GET / HTTP/1.1\r\n\r\n", "(the document is not JSON at byte 0: a byte is out of place"),
    ])
    func aSocketThatIsNoActivatorsIsRefused(text: String, reason: String) throws {
        let error = #expect(throws: PushAgentError.self) {
            _ = try self.channel { descriptor in
                self.send(text, to: descriptor)
                shutdown(descriptor.number, Int32(SHUT_WR))
            }
        }
        let description = try #require(error?.description)
        let said = description.replacing(/descriptor \d+/, with: "a descriptor")
        #expect(said.contains(reason))
    }

    @Test func aFileIsNoSocket() throws {
        let file = open("/dev/null", O_RDWR)
        let error = #expect(throws: PushAgentError.self) { _ = try LaunchChannel(descriptor: file) }
        let text = "KII_PUSH_LAUNCH_FD names descriptor \(file), which is no local stream socket; "
        #expect(error?.description.hasPrefix(text) == true)
        close(file)
    }

    @Test func oneAgentOfAProcessReceivesWhatItWasStartedFor() async throws {
        try await withTemporaryDirectory { directory in
            let (ours, theirs) = try FileDescriptor.connectedPair()
            let message = ActivationMessage(
                id: 7, attempt: 2, timeRemaining: .seconds(5), userAction: .custom("reply"), installationID: "i1",
                receivedAt: .now(), payload: Array(#"{"n":1}"#.utf8))
            self.send(String(decoding: message.line, as: UTF8.self), to: ours)
            let channel = try LaunchChannel(descriptor: dup(theirs.number))
            let options = channel.launchOptions
            #expect(options.messageID == 7)
            #expect(options.installationID == "i1")
            #expect(options.userAction == .custom("reply"))
            #expect(options.remoteNotification?.rawPayload["n"]?.int64 == 1)
            let runtime = try PushRuntime(configuration: .patient(stateDirectory: directory))
            let configuration = PushAgent.Configuration(
                app: KiiApp(appID: "app", appKey: "key", baseURL: "http://127.0.0.1:1/api"), account: .pseudoUser)
            let handler = RecordingHandler { _ in .failed }
            let first = PushAgent(
                runtime: runtime, configuration: configuration, handler: handler, reconnect: .quick,
                feed: MessageFeed(channel))
            let second = PushAgent(
                runtime: runtime, configuration: configuration, handler: RecordingHandler(), reconnect: .quick,
                feed: MessageFeed(channel))
            let events = first.events
            try await whileRunning(first) {
                let call = try #require(await handler.next(1).first)
                #expect(call.context.messageID == 7)
                #expect(call.context.attempt == 2)
                #expect(call.context.userAction == .custom("reply"))
                // The deadline is the activator's 5 s, and not the program's own 30 s.
                #expect(call.context.timeRemaining <= .seconds(5))
                #expect(await ActivationStage.happens(7, in: events) { $0 == .handedBack(.failed) } != nil)
                let error = await #expect(throws: PushAgentError.self) { try await second.run() }
                #expect(error?.description.hasPrefix("another agent of this process receives") == true)
            }
            var bytes = [UInt8](repeating: 0, count: 1000)
            let count = recv(ours.number, &bytes, bytes.count, 0)
            #expect(
                String(decoding: bytes[..<max(count, 0)], as: UTF8.self)
                    == "{\"ready\":4}\n{\"id\":7,\"result\":\"failed\"}\n")
            await runtime.shutdown()
        }
    }

    private struct Launched {
        /// The activator's end of the socket.
        let ours: FileDescriptor
        let runtime: PushRuntime
        let agent: PushAgent
        let handler = RecordingHandler()

        init(in directory: String, badge: Int, _ change: (inout PushRuntime.Configuration) -> Void = { _ in }) throws {
            let (ours, theirs) = try FileDescriptor.connectedPair()
            self.ours = ours
            try Self.send(7, badge: badge, to: ours)
            let channel = try LaunchChannel(descriptor: dup(theirs.number))
            var configuration = PushRuntime.Configuration.patient(stateDirectory: directory)
            change(&configuration)
            self.runtime = try PushRuntime(configuration: configuration)
            self.agent = PushAgent(
                runtime: self.runtime,
                configuration: PushAgent.Configuration(
                    app: KiiApp(appID: "app", appKey: "key", baseURL: "http://127.0.0.1:1/api"), account: .pseudoUser),
                handler: self.handler, reconnect: .quick, feed: MessageFeed(channel))
        }

        static func send(_ id: Int64, badge: Int, to descriptor: FileDescriptor) throws {
            let message = ActivationMessage(
                id: id, attempt: 1, timeRemaining: .seconds(600), userAction: nil, installationID: "i1",
                receivedAt: .now(), payload: Array(#"{"n":1}"#.utf8), badge: badge)
            try #require(write(descriptor.number, message.line, message.line.count) == message.line.count)
        }
    }

    /// The message that started the program has an older badge than the program's own, set before its run.
    @Test func theFirstMessageLeavesTheBadgeThatTheProgramHasSet() async throws {
        try await withTemporaryDirectory { directory in
            let launched = try Launched(in: directory, badge: 2)
            let (agent, handler) = (launched.agent, launched.handler)
            var badges = agent.badges.makeAsyncIterator()
            #expect(await badges.next() == 2)
            agent.setBadge(3)
            #expect(await badges.next() == 3)
            try await whileRunning(agent) {
                #expect(await handler.next(1).map(\.context.messageID) == [7])
                try Launched.send(8, badge: 5, to: launched.ours)
                #expect(await handler.next(1).map(\.context.messageID) == [8])
            }
            #expect(await badges.next() == 5)
            await launched.runtime.shutdown()
        }
    }

    /// `setBadge` does not block although the lines exceed the socket's buffer, and no line is lost.
    @Test func nobodyWaitsForAnActivatorThatDoesNotRead() async throws {
        try await withTemporaryDirectory { directory in
            let launched = try Launched(in: directory, badge: 0)
            for number in 1...5000 { launched.agent.setBadge(number) }
            let said = try await whileRunning(launched.agent) {
                try await onThread {
                    var (lines, buffer) = ([String](), LineBuffer())
                    var bytes = [UInt8](repeating: 0, count: 65_536)
                    while lines.count < 5002 {
                        let count = recv(launched.ours.number, &bytes, bytes.count, 0)
                        guard count > 0 else { throw TestFailure("only \(lines.count) lines came") }
                        for line in buffer.lines(from: bytes[..<count]) {
                            lines.append(String(decoding: line ?? [], as: UTF8.self))
                        }
                    }
                    return lines
                }
            }
            let badges = (1...5000).map { "{\"badge\":\($0)}" }
            #expect(Array(said.prefix(5000)) == badges)
            #expect(said.suffix(2) == [#"{"ready":4,"badge":true}"#, #"{"id":7,"result":"newData"}"#])
            await launched.runtime.shutdown()
        }
    }

    /// At its end, the program drops the lines that the activator has not read.
    @Test func anActivatorThatStandsStillHoldsUpNoEnd() async throws {
        try await withTemporaryDirectory { directory in
            let launched = try Launched(in: directory, badge: 0) { $0.shutdownGrace = .milliseconds(1) }
            // These lines exceed the socket's buffer.
            for number in 1...50_000 { launched.agent.setBadge(number) }
            // `whileRunning` returns only after the agent has ended.
            let calls = try await whileRunning(launched.agent) { await launched.handler.next(1) }
            #expect(calls.map(\.context.messageID) == [7])
            await launched.runtime.shutdown()
            withExtendedLifetime(launched) {}
        }
    }

    @Test func anAgentWithoutTheFeedSaysWhichFeedItLacks() async throws {
        try await withFakeBroker(configure: { $0.environment.isActivated = { true } }) { _, runtime, configuration in
            let agent = PushAgent(runtime: runtime, configuration: configuration, handler: RecordingHandler())
            let events = agent.events
            try await whileRunning(agent) {
                let event = await firstEvent(events) {
                    if case .notice(.launchIgnored, _, _) = $0 { true } else { false }
                }
                guard case .notice(_, let reason, _)? = event else { return }
                #expect(reason.contains("feed of KiiPushActivation") && reason.hasSuffix(" without KII_PUSH_LAUNCH_FD"))
            }
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
