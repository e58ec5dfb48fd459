import Foundation
import KiiPushCore
import TestSupport
import TestTraits
import Testing

/// Only one connection at a time writes the inbox file, even with several readers. SQLite before 3.51.3 may damage a
/// file if one connection runs a checkpoint while another commits.
@Suite(.ownThreads) struct OneWriterTests {
    /// Commands beside a receiving process, and whether they open the inbox. Their results do not matter here.
    private static let commands: [(words: [String], looks: Bool)] = [
        (["inbox", "stats"], true), (["inbox", "list"], true), (["trace", "1"], true),
        (["inbox", "retry", "2"], true), (["inbox", "drop", "3"], true), (["inbox", "retry", "--all"], true),
        (["inbox", "adopt", "--from", "nobody"], true), (["replay", "--exec", "true", "--message", "1"], true),
        (["send", "user", "me", "--data", "{}", "--wait"], true), (["doctor", "--no-round-trip"], true),
        (["listen", "--count", "1", "--timeout", "1s"], false), (["run", "--exec", "true"], false),
        (["register"], false), (["sync"], false),
    ]

    private func session(_ states: [RowState]) throws -> (EmulatorSession, FileWatch) {
        let session = try EmulatorSession()
        try session.succeed("register")
        try session.store(states)
        let watch = try FileWatch(session.stateDirectory + "/inbox.sqlite")
        #expect(try watch.writers(until: []) == [])
        _ = watch.counts()
        return (session, watch)
    }

    @Test func whileOneReceivesNobodyElseWrites() throws {
        let (session, watch) = try self.session([.done, .dead, .dead, .dead, .retry, .done])
        let run = try session.ready(["run", "--exec", "true"])
        let reader = try InboxReader(stateDirectory: session.stateDirectory)
        _ = watch.counts()
        for (words, looks) in Self.commands {
            let result = try session.tool.start(words).waitForExit()
            let counts = watch.counts()
            #expect(counts.writersClosed == 0, "\(words): \(result)")
            #expect(try watch.writers(until: [run.processID]) == [run.processID], "\(words): \(result)")
            #expect(counts.opened > 0 || !looks, "\(words) does not look at the inbox: \(result)")
        }
        try reader.verify()
        #expect(try !reader.messages().isEmpty)
        #expect(watch.counts().writersClosed == 0)
        run.stop()
        #expect(try watch.writers(until: []) == [])
        // The watch sees a writer, as its count of the stopped one shows.
        #expect(watch.counts().writersClosed == 1)
    }

    /// Beside a holder that accepts no orders, other processes cannot decide about messages. The holder itself has one
    /// connection.
    @Test func whoCannotHaveTheLockWritesNothing() async throws {
        let (session, watch) = try self.session([.dead, .dead, .dead])
        let configuration = PushRuntime.Configuration(stateDirectory: session.stateDirectory)
        let holder = try PushRuntime(configuration: configuration)
        #expect(try await holder.ledger().dead == 3)
        for words in [["inbox", "retry", "1"], ["inbox", "drop", "2"], ["listen"], ["run", "--exec", "true"]] {
            let result = try session.tool.start(words).waitForExit()
            #expect(result.exit == 75, "\(words): \(result)")
        }
        let other = try PushRuntime(configuration: configuration)
        await #expect(throws: PushAgentError.self) { try await other.retry(1) }
        await other.shutdown()
        #expect(try await holder.retry(1) == .carriedOut)
        #expect(try await holder.drop(2) == .carriedOut)
        #expect(try await holder.deadLetters().all().map(\.messageID) == [3])
        #expect(try InboxReader(stateDirectory: session.stateDirectory).messages().count == 2)
        #expect(watch.counts().writersClosed == 0)
        #expect(try watch.writers(until: [getpid()]) == [getpid()])
        await holder.shutdown()
        #expect(try session.tool("inbox", "retry", "3").exit == 0)
        #expect(try watch.writers(until: []) == [])
        // The holder, and the command that got the lock after it.
        #expect(watch.counts().writersClosed == 2)
    }
}
