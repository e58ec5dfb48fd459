import Foundation
import Glibc
import TestSupport
import TestTraits
import Testing

@testable import KiiPushCommandLine
@testable import KiiPushCore
@testable import kii_push

@Suite(.ownThreads) struct MetricsTests {
    private let tool: Tool
    private let console = Console(quiet: true)

    init() throws {
        self.tool = try Tool()
    }

    private static func message(_ id: Int64, _ kind: MessageEvent.Kind) -> PushEvent {
        .message(MessageEvent(messageID: id, at: .now(), kind: kind))
    }

    private static func counted(_ events: [(PushEvent, Duration)]) -> AgentMetrics {
        var metrics = AgentMetrics()
        let begin = ContinuousClock.now
        for (event, offset) in events { metrics.count(event, at: begin + offset) }
        return metrics
    }

    @Test func countsMessagesAndHowLongTheyTook() {
        let metrics = Self.counted([
            (Self.message(1, .received), .zero), (Self.message(1, .duplicate), .zero),
            (Self.message(1, .started(attempt: 1)), .zero),
            (Self.message(1, .done(.newData, attempt: 1, isLate: false)), .milliseconds(40)),
            (Self.message(2, .received), .seconds(1)), (Self.message(2, .started(attempt: 1)), .seconds(1)),
            (Self.message(2, .failed(attempt: 1, .threw("secret"), retryAfter: .seconds(1))), .seconds(3)),
            (Self.message(2, .started(attempt: 2)), .seconds(4)),
            (Self.message(2, .dead(.rejected("secret"), attempt: 2)), .seconds(64)),
            (Self.message(3, .received), .seconds(64)),
            (Self.message(3, .dead(.undecodable("secret"), attempt: nil)), .seconds(64)),
        ])
        let lines = metrics.prometheusText.split(separator: "\n").map(String.init)
        let process = #"messaging_system="mqtt",messaging_operation_name="process""#
        let duration = "messaging_process_duration_seconds"
        let failed = #"\#(process),outcome="failed",error_type="threw""#
        let dead = #"\#(process),outcome="dead",error_type="rejected""#
        let expected = [
            "# TYPE messaging_client_consumed_messages_total counter",
            #"messaging_client_consumed_messages_total{messaging_system="mqtt",messaging_operation_name="receive"} 3"#,
            "# TYPE \(duration) histogram",
            #"\#(duration)_bucket{\#(process),outcome="newData",le="0.025"} 0"#,
            #"\#(duration)_bucket{\#(process),outcome="newData",le="0.05"} 1"#,
            #"\#(duration)_bucket{\#(process),outcome="newData",le="+Inf"} 1"#,
            #"\#(duration)_sum{\#(process),outcome="newData"} 0.040000"#,
            #"\#(duration)_count{\#(process),outcome="newData"} 1"#,
            #"\#(duration)_bucket{\#(failed),le="1"} 0"#, #"\#(duration)_bucket{\#(failed),le="2.5"} 1"#,
            #"\#(duration)_bucket{\#(dead),le="10"} 0"#, #"\#(duration)_bucket{\#(dead),le="+Inf"} 1"#,
            #"\#(duration)_sum{\#(dead)} 60.000000"#,
            #"kii_push_settled_messages_total{outcome="dead"} 2"#,
            #"kii_push_settled_messages_total{outcome="newData"} 1"#, "kii_push_redelivered_messages_total 1",
        ]
        for line in expected { #expect(lines.contains(line), "\(line)") }
        #expect(!metrics.prometheusText.contains("secret"))
        for line in lines where !line.hasPrefix("#") {
            #expect(line.wholeMatch(of: /[a-z_]+(\{([a-z_]+="[^"]*",?)+\})? [0-9.]+/) != nil, "\(line)")
        }
    }

    @Test func tellsTheStateOfTheConnectionAndTheInbox() {
        let off = PushEvent.disconnected(reason: "gone", retryIn: .seconds(1))
        let on = PushEvent.connected(
            .init(
                host: "h", port: 1, usesTLS: true, isVerified: true, protocolVersion: "3.1.1", qualityOfService: 1,
                sessionPresent: true))
        func text(_ events: [PushEvent]) -> String { Self.counted(events.map { ($0, .zero) }).prometheusText }
        #expect(text([off]).contains("\nkii_push_disconnections_total 0\n"))
        #expect(text([on, off, off]).contains("\nkii_push_disconnections_total 1\n"))
        #expect(text([on, off, on]).contains("\nkii_push_connected 1\n"))
        #expect(text([on, off]).contains("\nkii_push_connected 0\n"))
        #expect(text([on, .stopping, off]).contains("\nkii_push_disconnections_total 1\n"))
        #expect(text([.stopping]).contains("\nkii_push_disconnections_total 0\n"))
        #expect(text([.trouble(.storing, reason: "full")]).contains("\nkii_push_storage_failing 1\n"))
        #expect(text([.trouble(.receiving, reason: "full")]).contains("\nkii_push_reception_paused 1\n"))
        #expect(
            text([.trouble(.receiving, reason: "full"), .recovered(.receiving)]).contains(
                "\nkii_push_reception_paused 0\n"))
        #expect(
            text([.trouble(.storing, reason: "full"), .recovered(.storing)]).contains("\nkii_push_storage_failing 0\n"))
    }

    /// Two databases may give the same number to two messages.
    @Test func agentsAreCountedTogether() {
        var metrics = AgentMetrics()
        let begin = ContinuousClock.now
        let on = PushEvent.connected(
            .init(
                host: "h", port: 1, usesTLS: true, isVerified: true, protocolVersion: "3.1.1", qualityOfService: 1,
                sessionPresent: true))
        for agent in ["a", "b", "c"] { metrics.count(on, of: agent) }
        metrics.count(.trouble(.storing, reason: "full"), of: "b")
        metrics.count(.stopping, of: "b")
        metrics.count(Self.message(1, .started(attempt: 1)), of: "a", at: begin)
        metrics.count(Self.message(1, .started(attempt: 1)), of: "c", at: begin + .seconds(2))
        for agent in ["a", "c"] {
            metrics.count(
                Self.message(1, .done(.noData, attempt: 1, isLate: false)), of: agent, at: begin + .seconds(3))
        }
        let text = metrics.prometheusText
        #expect(text.contains("\nkii_push_connected 2\n"))
        #expect(text.contains("\nkii_push_disconnections_total 1\n"))
        #expect(text.contains("\nkii_push_storage_failing 0\n"))
        #expect(text.contains(#"outcome="noData"} 4.000000"#), "\(text)")
    }

    /// A thousand agents of one store report the same trouble, and some of them stop meanwhile.
    @Test func thatNothingIsStoredIsToldOnce() {
        var trouble = TroubledAgents()
        #expect(trouble.noted(.recovered(.storing), of: "a") == nil)
        #expect(trouble.noted(.trouble(.storing, reason: "full"), of: "a") == .began(.storing, reason: "full"))
        #expect(trouble.noted(.trouble(.storing, reason: "full"), of: "b") == nil)
        #expect(trouble.noted(.trouble(.storing, reason: "away"), of: "c") == .began(.storing, reason: "away"))
        #expect(trouble.noted(.recovered(.storing), of: "a") == nil)
        #expect(trouble.noted(.stopping, of: "b") == nil)
        #expect(trouble.noted(.recovered(.storing), of: "c") == .ended(.storing))
        #expect(trouble.noted(.trouble(.storing, reason: "full"), of: "a") == .began(.storing, reason: "full"))
        #expect(trouble.noted(.stopping, of: "a") == nil)
        // A stopping agent may miss the event of the recovery.
        #expect(trouble.noted(.trouble(.storing, reason: "full"), of: "a") == nil)
        #expect(trouble.count(.storing) == 0)
        #expect(trouble.noted(.trouble(.storing, reason: "full"), of: "b") == nil)
        let registration = Registration(principal: .user("u"), installationID: "i", host: "h", mqttTopic: "t")
        #expect(trouble.noted(.registered(registration), of: "a") == nil)
        #expect(trouble.noted(.trouble(.storing, reason: "full"), of: "a") == .began(.storing, reason: "full"))
    }

    @Test func aFileThatHoldsSomethingElseIsNotReplaced() async throws {
        let path = try self.tool.write("alias ll='ls -l'\n", to: "profile")
        let publisher = MetricsPublisher(file: path, console: self.console)
        await #expect(throws: CommandFailure.self) { try await publisher.start(socket: nil) }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "alias ll='ls -l'\n")
    }

    @Test func theFileIsThereAtOnceAndHoldsTheLastNumbersAtTheEnd() async throws {
        let path = self.tool.home.path + "/kii.prom"
        let publisher = MetricsPublisher(file: path, console: self.console)
        try await publisher.start(socket: nil)
        #expect(try String(contentsOfFile: path, encoding: .utf8).contains("\nkii_push_connections_total 0\n"))
        publisher.count(Self.message(1, .received))
        await publisher.stop()
        #expect(try String(contentsOfFile: path, encoding: .utf8).contains(#""receive"} 1"#))
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode.map { $0 & 0o700 } == 0o600)
        #expect(!FileManager.default.fileExists(atPath: path + ".tmp"))
        let nowhere = MetricsPublisher(file: "/proc/nowhere/kii.prom", console: self.console)
        let failure = await #expect(throws: CommandFailure.self) { try await nowhere.start(socket: nil) }
        #expect(failure?.exit == .cannotCreate)
    }

    @Test func whatWaitsAndWhatWasGivenUpOnAreGauges() async throws {
        let directory = self.tool.home.path + "/agent"
        try { () throws in
            try PrivateFile.makeDirectory(directory)
            let inbox = try Inbox(path: directory + "/inbox.sqlite")
            try inbox.transaction { transaction throws(InboxError) in
                let installation = try transaction.installation(id: "i")
                for state in [RowState.waiting, .waiting, .dead] {
                    _ = try transaction.insert(
                        StoredMessage(
                            installation: installation, topic: "t", payload: [1], receivedAt: .now(), state: state,
                            reason: state == .dead ? "crashed" : nil))
                }
            }
        }()
        let path = self.tool.home.path + "/m.prom"
        let publisher = MetricsPublisher(file: path, console: self.console)
        try await publisher.start(socket: nil)
        #expect(try !String(contentsOfFile: path, encoding: .utf8).contains("kii_push_dead_letters"))
        let runtime = try PushRuntime(configuration: .init(stateDirectory: directory))
        await publisher.count(inboxOf: runtime)
        await publisher.stop()
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text.contains("\n# TYPE kii_push_waiting_messages gauge\nkii_push_waiting_messages 2\n"), "\(text)")
        #expect(text.contains("\n# TYPE kii_push_dead_letters gauge\nkii_push_dead_letters 1\n"))
        await runtime.shutdown()
    }

    @Test func theSocketAnswersItsOwnerAlone() async throws {
        let path = self.tool.home.path + "/m.sock"
        let publisher = MetricsPublisher(file: nil, console: self.console)
        try await publisher.start(socket: path)
        var status = stat()
        #expect(lstat(path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        publisher.count(Self.message(1, .received))
        let answer = try await self.ask(path, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.0 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"))
        #expect(answer.contains(#""receive"} 1"#))
        #expect(try await self.ask(path, "POST / HTTP/1.0\r\n\r\n").hasPrefix("HTTP/1.0 400 "))
        #expect(try await self.ask(path, "GET ").hasPrefix("HTTP/1.0 400 "))
        let second = MetricsPublisher(file: nil, console: self.console)
        let failure = await #expect(throws: CommandFailure.self) { try await second.start(socket: path) }
        #expect(failure?.exit == .temporary)
        await publisher.stop()
        #expect(lstat(path, &status) != 0)
    }

    @Test func aSocketThatNobodyAnswersOnIsReplaced() async throws {
        let path = self.tool.home.path + "/m.sock"
        let maker = #"import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])"#
        #expect(try ChildProgram(["python3", "-c", maker, path]).wait() == 0)
        let publisher = MetricsPublisher(file: nil, console: self.console)
        try await publisher.start(socket: path)
        #expect(try await self.ask(path, "GET / HTTP/1.0\n\n").hasPrefix("HTTP/1.0 200 "))
        await publisher.stop()
        try self.tool.write("kept", to: "m.sock")
        let failure = await #expect(throws: CommandFailure.self) { try await publisher.start(socket: path) }
        #expect(failure?.exit == .cannotCreate)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "kept")
        let long = await #expect(throws: CommandFailure.self) {
            try await publisher.start(socket: "/" + String(repeating: "x", count: 200))
        }
        #expect(long?.exit == .usage)
    }

    /// Sends `request`, and returns the whole answer. Waits on a separate thread, because the answer needs the threads
    /// of tasks.
    private func ask(_ path: String, _ request: String) async throws -> String {
        let client = """
            import socket, sys
            client = socket.socket(socket.AF_UNIX)
            client.connect(sys.argv[1])
            client.sendall(sys.argv[2].encode())
            client.shutdown(socket.SHUT_WR)
            while data := client.recv(65536): sys.stdout.buffer.write(data)
            """
        let program = try ChildProgram(["python3", "-c", client, path, request])
        return await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: program.output.all()) }
        }
    }
}
