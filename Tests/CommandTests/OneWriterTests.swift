import Foundation
import KiiPushCore
import TestSupport
import Testing

/// One connection at a time writes the inbox file or its log, whatever else looks at it. A defect of SQLite before 3.51.3
/// damages a file whose log two connections write or check in at the same moment.
@Suite(.timeLimit(.minutes(15))) struct OneWriterTests {
    private static func inbox(_ session: EmulatorSession) -> String { session.stateDirectory + "/inbox.sqlite" }

    private func session(_ states: [RowState]) throws -> EmulatorSession {
        let session = try EmulatorSession()
        try session.succeed("register")
        try session.store(states)
        return session
    }

    /// Every command that knows the inbox, beside a process that receives.
    @Test func whileOneReceivesNobodyElseWrites() throws {
        let session = try self.session([.done, .dead, .dead, .dead, .retry, .done])
        let run = try session.ready(["run", "--exec", "true"])
        let watch = try FileWatch(Self.inbox(session))
        #expect(try watch.writers() == [run.processID])
        let listener = try session.ready(["listen"])
        let reader = try InboxReader(stateDirectory: session.stateDirectory)
        for words in [
            ["inbox", "stats"], ["inbox", "list"], ["inbox", "retry", "2"], ["inbox", "drop", "3"],
            ["inbox", "retry", "--all"], ["trace", "1"], ["config", "show"], ["subscribe", "alerts"], ["sync"],
            ["replay", "--exec", "true", "--message", "1"], ["send", "user", "me", "--data", "{}", "--wait"],
            ["inbox", "adopt", "--from", "nobody"], ["doctor", "--no-round-trip"], ["register"],
            ["run", "--exec", "true"],
        ] {
            _ = watch.counts()
            let result = try session.tool.start(words).waitForExit()
            // Whether it could do anything is not what this is about.
            let counts = watch.counts()
            #expect(counts.writersClosed == 0, "\(words): \(result)")
            #expect(try watch.writers() == [run.processID], "\(words): \(result)")
            if words[0] != "config", words[0] != "sync", words[0] != "subscribe", words[0] != "register",
                words[0] != "run"
            {
                #expect(counts.opened > 0, "\(words) does not look at the inbox: \(result)")
            }
        }
        try reader.verify()
        #expect(try reader.messages().count > 0)
        listener.stop()
        #expect(watch.counts().writersClosed == 0)
        run.stop()
        // Somebody who writes would have been seen.
        #expect(watch.counts().writersClosed == 1)
        #expect(try watch.writers() == [])
    }

    /// A holder that takes no orders keeps them from being carried out beside it.
    @Test func whoCannotHaveTheLockWritesNothing() async throws {
        let session = try self.session([.dead, .dead])
        let holder = try PushRuntime(configuration: .init(stateDirectory: session.stateDirectory))
        #expect(try await holder.ledger().dead == 2)
        let watch = try FileWatch(Self.inbox(session))
        for words in [["inbox", "retry", "1"], ["inbox", "drop", "2"], ["listen"], ["run", "--exec", "true"]] {
            let result = try session.tool.start(words).waitForExit()
            #expect(result.exit == 75, "\(words): \(result)")
            #expect(watch.counts().writersClosed == 0, "\(words): \(result)")
        }
        #expect(try watch.writers() == [getpid()])
        await holder.shutdown()
        #expect(try session.tool("inbox", "retry", "1").exit == 0)
        #expect(watch.counts().writersClosed == 2)
    }
}
