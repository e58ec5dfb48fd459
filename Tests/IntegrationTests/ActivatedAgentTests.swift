import Foundation
import Glibc
import SeededNumbers
import TestSupport
import TestTraits
import Testing

@testable import KiiPushActivation
@testable import KiiPushCore

/// A program with this library that is started for messages.
@Suite(.ownThreads) struct ActivatedAgentTests {
    /// The numbers that the example program has noted, in its order.
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
            // One source: in their order.
            #expect(self.noted(journal) == Array(1...20))
        }
    }

    /// A program with this library, and a shell that answers by lines and ends now and then with what it says not being
    /// about the message that it has got by then.
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
                    // Fewer than there are attempts, so that none of the messages is given up on, however little each
                    // program comes to. The shell does nothing else for the first half of these kills.
                    while kills.withLock({ $0 }) < ActivationStage.attempts / 2,
                        let processID = await report.nextStart()
                    {
                        // Amid its start, its first messages or many of them.
                        let longest = 60_000
                        try await Task.sleep(for: .microseconds(Int.random(in: 0...longest, using: &random)))
                        // The group, which is its own as long as it is not reaped.
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
                        // On a busy machine all would be handled before the killer is.
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

    /// As it does in the process that holds the connection: until the next attempt, which is far away.
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

    /// A channel from a descriptor that the closure is given the other end of.
    private func channel(_ body: (FileDescriptor) -> Void) throws -> LaunchChannel {
        let (ours, theirs) = try FileDescriptor.connectedPair()
        body(ours)
        // The channel closes what it was given, and so does the owner.
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
                // Not a new 30 s of its own.
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

    /// An agent in a program that was started for message 7.
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

    /// The message that starts a program says how the badge begins, and is older than what the program sets before it runs.
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
            // The only number since.
            #expect(await badges.next() == 5)
            await launched.runtime.shutdown()
        }
    }

    /// More lines than the socket takes: setting the badge waits for nobody, and nothing is lost.
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

    /// What it has not taken is given up when the program ends.
    @Test func anActivatorThatStandsStillHoldsUpNoEnd() async throws {
        try await withTemporaryDirectory { directory in
            let launched = try Launched(in: directory, badge: 0) { $0.shutdownGrace = .milliseconds(1) }
            // More than the socket takes.
            for number in 1...50_000 { launched.agent.setBadge(number) }
            // Returns when the agent has ended.
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
