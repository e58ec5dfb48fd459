import Foundation
import Glibc
import TestTraits
import Testing

@testable import KiiPushCommandLine
@testable import KiiPushCore
@testable import kii_push

@Suite(.ownThreads) struct AgentEventTests {
    private static let events: [(event: PushEvent, state: String)] = [
        (.trouble(.storing, reason: "r"), "not storing"), (.recovered(.storing), "storing again"),
        (.trouble(.receiving, reason: "r"), "not receiving"), (.recovered(.receiving), "receiving again"),
        (.trouble(.saving, reason: "r"), "not saving"), (.recovered(.saving), "saving again"),
        (.trouble(.reading, reason: "r"), "not reading"), (.recovered(.reading), "reading again"),
        (.trouble(.handling, reason: "r"), "not handling"), (.recovered(.handling), "handling again"),
        (.notice(.sessionLost, reason: "r"), "session lost"), (.notice(.takenOver, reason: "r"), "taken over"),
        (.notice(.historyCut, reason: "r"), "history cut"),
        (.notice(.deadLettersRemoved, reason: "r"), "letters dropped"),
        (.notice(.inboxInMemory, reason: "r"), "in memory only"),
        (.notice(.controlSocketFailed, reason: "r"), "not watchable"),
        (.notice(.launchIgnored, reason: "r"), "launch ignored"),
    ]

    private static func directory(_ session: EmulatorSession) -> String {
        session.tool.home.path + "/state/kii-push/profiles/default"
    }

    /// Runs `listen` beside a process that emits every event, and returns its output.
    private func listening(_ words: String...) throws -> Tool.Result {
        let session = try EmulatorSession()
        try session.succeed("register")
        let directory = Self.directory(session)
        _ = try Inbox(path: directory + "/inbox.sqlite")
        let server = try ControlServer(directory: directory) { _, _ in }
        let hub = EventHub()
        server.attach(hub)
        hub.emit(.disconnected(reason: "before", retryIn: .seconds(1)))
        let watcher = try session.tool.start(["listen"] + words)
        // Once `listen` shows the disconnection, it watches this process.
        let isJSON = words.contains("--json")
        #expect(
            (isJSON ? watcher.output(containing: "before") : watcher.error(containing: "before")).contains("before"))
        for (event, _) in Self.events { hub.emit(event) }
        hub.emit(.trouble(.storing, reason: String(repeating: "x", count: 70_000)))
        var omitted = MessageEvent(messageID: 7, at: .now(), kind: .started(attempt: 1))
        omitted.call = .omitted
        hub.emit(.message(omitted))
        hub.emit(.disconnected(reason: "after", retryIn: .seconds(1)))
        #expect((isJSON ? watcher.output(containing: "after") : watcher.error(containing: "after")).contains("after"))
        server.stop()
        return watcher.waitForExit()
    }

    @Test func eachIsAnObjectForPrograms() throws {
        let output = try self.listening("--json").output
        try OutputSchemaTests.check(output, has: "state")
        let lines = try output.split(separator: "\n").map {
            try JSONValue(parsing: String($0))
        }
        let states = lines.filter { $0["type"] == "state" && $0["at"]?.string != nil }.compactMap {
            $0["state"]?.string
        }
        #expect(states == ["offline"] + Self.events.map(\.state) + ["missed", "not shown", "offline"])
    }

    @Test func eachIsALineForPeople() throws {
        let text = try self.listening().error
        for (_, state) in Self.events {
            let words = state.hasSuffix("again") ? "> \(state.prefix(1).uppercased())\(state.dropFirst()).\n" : state
            #expect(text.contains(words), "\(state)")
        }
        #expect(text.contains("1 event missed; 'kii-push inbox list' has the messages\n"))
        #expect(
            text.contains(
                "#7: it is too long for the control socket, or was not read in time; 'kii-push trace 7' has it\n"))
    }

    /// The receiving process has a newer version, whose events `listen` does not know.
    @Test func anEventOfANewerVersionIsNamed() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        let directory = Self.directory(session)
        _ = try Inbox(path: directory + "/inbox.sqlite")
        let listener = try ControlSocket.listen(in: directory)
        let watcher = try session.tool.start(["listen"])
        var entry = pollfd(fd: listener.number, events: Int16(POLLIN), revents: 0)
        #expect(poll(&entry, 1, -1) == 1)
        let socket = try #require(listener.accept(waits: true))
        let line = Array(#"{"event":{"name":"trouble","kind":"sleeping","reason":"r"}}"#.utf8) + [10]
        #expect(socket.send(line[...]) == line.count)
        let text = watcher.error(containing: "sleeping")
        #expect(text.contains("1 event of a newer version: trouble sleeping; install "), "\(text)")
        watcher.stop()
    }

    @Test func thatNobodyCanWatchIsSaid() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        // A file blocks the path of the socket.
        try session.tool.write("", to: "state/kii-push/profiles/default/control.sock/file")
        for (words, text) in [(["--json"], #""state":"not watchable""#), ([], "!  not watchable  ")] {
            let listener = try session.tool.start(["listen"] + words)
            let seen = words.isEmpty ? listener.error(containing: "> Ready") : listener.output(containing: "connected")
            #expect(seen.contains(text), "\(seen)")
            #expect(seen.contains(Self.directory(session) + "/control.sock"))
            listener.stop()
        }
    }
}
