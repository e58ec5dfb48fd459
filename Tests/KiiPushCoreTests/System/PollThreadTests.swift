import Glibc
import KiiPushCore
import TestTraits
import Testing

@Suite(.ownThreads) struct PollThreadTests {
    @Test(arguments: [true, false])
    func itTakesMessagesInTheirOrder(watchesDescriptors: Bool) throws {
        let journal = PollTurns()
        let thread = PollThread<Int>(name: "kii-test", watchesDescriptors: watchesDescriptors)
        #expect(!thread.send(0))
        try thread.start { RecordingLoop(journal) { _ in PollWait() } }
        journal.waitForTurns(1)
        for number in 1...3 {
            #expect(thread.send(number))
            journal.wait { $0.messages == Array(1...number) }
        }
        #expect(!thread.isStopping)
        #expect(thread.stop())
        #expect(!thread.stop())
        thread.join()
        #expect(thread.isStopping)
        #expect(!thread.send(4))
        #expect(journal.contents.unread == [])
    }

    @Test(arguments: [true, false])
    func itTakesATurnWhenTheTimeHasCome(watchesDescriptors: Bool) throws {
        let journal = PollTurns()
        let thread = PollThread<Int>(name: "kii-test", watchesDescriptors: watchesDescriptors)
        let due = MonotonicInstant.now() + .milliseconds(20)
        try thread.start {
            RecordingLoop(journal) { turn in
                guard due > .now() else { return nil }
                var wait = PollWait(until: due + .seconds(600))
                wait.wake(at: due)
                return wait
            }
        }
        thread.join()
        #expect(MonotonicInstant.now() >= due)
        #expect(journal.contents.turns >= 2)
        #expect(journal.contents.unread == [])
        #expect(!thread.send(1))
    }

    @Test func itTakesATurnWhenADescriptorCanBeReadOrHasEnded() throws {
        let (ours, theirs) = try FileDescriptor.connectedPair()
        let journal = PollTurns()
        let thread = PollThread<Int>(name: "kii-test")
        try thread.start {
            RecordingLoop(journal) { turn in
                var wait = PollWait()
                wait.watch(nil)
                // The socket has room to write at once.
                if turn == 1 { wait.watch(ours.number, reading: false, writing: true) }
                if turn > 1 { wait.watch(ours.number) }
                return wait
            }
        }
        journal.waitForTurns(2)
        #expect(journal.contents.readable == [[], []])
        #expect(theirs.send([1]) == 1)
        journal.wait { $0.readable.last == [ours.number] }
        var buffer = [UInt8](repeating: 0, count: 8)
        #expect(ours.receive(into: &buffer) == 1)
        theirs.shutDown(.both)
        let turns = journal.contents.turns
        journal.wait { $0.turns > turns && $0.readable.last == [ours.number] }
        thread.stop()
        thread.join()
    }

    /// The loop finishes its turn, takes no other turn, and gets the unread messages at its end.
    @Test(arguments: [true, false])
    func aStopLeavesMessagesToTheEnd(watchesDescriptors: Bool) throws {
        let journal = PollTurns()
        let mayGoOn = Monitor(false)
        let thread = PollThread<Int>(name: "kii-test", watchesDescriptors: watchesDescriptors)
        try thread.start {
            RecordingLoop(journal) { _ in
                mayGoOn.wait { $0 ? .leave(()) : .sleep(until: nil) }
                return PollWait()
            }
        }
        journal.waitForTurns(1)
        #expect(thread.send(1))
        #expect(thread.send(2))
        thread.stop()
        mayGoOn.withLock { $0 = true }
        mayGoOn.signal()
        thread.join()
        #expect(journal.contents.turns == 1)
        #expect(journal.contents.unread == [1, 2])
        // A second `join` returns at once, and `start` does not start a stopped thread.
        thread.join()
        try thread.start { RecordingLoop(journal) { _ in nil } }
        #expect(!thread.send(3))
        #expect(journal.contents.turns == 1)
    }

    @Test func aThreadThatIsCancelledNeverStarts() throws {
        let journal = PollTurns()
        let thread = PollThread<Int>(name: "kii-test")
        #expect(thread.cancel())
        try thread.start { RecordingLoop(journal) { _ in PollWait() } }
        #expect(!thread.send(1))
        thread.join()
        #expect(journal.contents.turns == 0)
        let started = PollThread<Int>(name: "kii-test")
        try started.start { nil }
        #expect(!started.cancel())
        started.join()
        #expect(started.isStopping)
    }
}

private final class PollTurns: Sendable {
    struct Contents: Sendable {
        var turns = 0
        var messages: [Int] = []
        var readable: [Set<Int32>] = []
        /// `nil` until the loop has ended.
        var unread: [Int]?
    }

    private let state = Monitor(Contents())

    var contents: Contents { self.state.withLock { $0 } }

    func note(_ change: (inout Contents) -> Void) {
        self.state.withLock { change(&$0) }
        self.state.signalAll()
    }

    func wait(until isReached: @Sendable (Contents) -> Bool) {
        self.state.wait { isReached($0) ? .leave(()) : .sleep(until: nil) }
    }

    func waitForTurns(_ count: Int) { self.wait { $0.turns >= count } }
}

private struct RecordingLoop: PollLoop {
    private let journal: PollTurns
    private let wait: @Sendable (Int) -> PollWait?
    private var turns = 0

    /// - Parameter wait: returns the wait after each turn; turns count from 1.
    init(_ journal: PollTurns, wait: @escaping @Sendable (Int) -> PollWait?) {
        self.journal = journal
        self.wait = wait
    }

    mutating func turn(_ messages: [Int], readable: Set<Int32>) -> PollWait? {
        self.turns += 1
        self.journal.note { contents in
            contents.turns += 1
            contents.messages += messages
            contents.readable.append(readable)
        }
        return self.wait(self.turns)
    }

    func end(_ unread: [Int]) { self.journal.note { $0.unread = unread } }
}
