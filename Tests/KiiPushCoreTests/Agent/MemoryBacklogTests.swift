import Testing

@testable import KiiPushCore

@Suite struct MemoryBacklogTests {
    private func backlog(_ sequences: Int64...) -> MemoryBacklog {
        var backlog = MemoryBacklog()
        for sequence in sequences { backlog.append(waiting: sequence) }
        return backlog
    }

    /// Takes out what waits, in order.
    private func drain(_ backlog: MemoryBacklog, where isWaiting: (Int64) -> Bool = { _ in true }) -> [Int64] {
        var backlog = backlog
        var all: [Int64] = []
        while let sequence = backlog.nextWaiting(where: isWaiting) {
            all.append(sequence)
            backlog.dropFirstWaiting()
        }
        return all
    }

    @Test func messagesThatAreGivenBackStandInOrder() {
        #expect(self.drain(self.backlog(3, 7, 5, 1, 9)) == [1, 3, 5, 7, 9])
    }

    @Test func aMessageStandsThereOnce() {
        #expect(self.drain(self.backlog(3, 7, 3, 7, 7)) == [3, 7])
    }

    @Test func whatDoesNotWaitAnyMoreIsPassedOver() {
        #expect(self.drain(self.backlog(1, 2, 3, 4)) { $0 % 2 == 0 } == [2, 4])
    }

    @Test func pagesGoOnAfterASequenceAndSkipWhatDoesNotWait() {
        let backlog = self.backlog(1, 2, 3, 4, 5, 6)
        #expect(backlog.waiting(after: 2, limit: 2) { $0 != 4 } == [3, 5])
        #expect(backlog.waiting(after: 6, limit: 2) { _ in true } == [])
    }

    @Test func whatIsGivenBackBeforeWhatWasTakenComesFirst() {
        var backlog = self.backlog(1, 2, 3, 4)
        for _ in 1...3 { backlog.dropFirstWaiting() }
        backlog.append(waiting: 2)
        #expect(self.drain(backlog) == [2, 4])
        backlog.dropFirstWaiting()
        backlog.dropFirstWaiting()
        #expect(backlog.isEmpty)
        backlog.append(waiting: 1)
        #expect(self.drain(backlog) == [1])
    }
}
