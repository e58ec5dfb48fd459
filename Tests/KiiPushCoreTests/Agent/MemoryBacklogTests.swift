import KiiPushCore
import Testing

@Suite struct MemoryBacklogTests {
    private func backlog(_ sequences: Int64...) -> MemoryBacklog {
        var backlog = MemoryBacklog()
        for sequence in sequences { backlog.append(waiting: sequence) }
        return backlog
    }

    @Test func messagesThatAreGivenBackStandInOrder() {
        let backlog = self.backlog(3, 7, 5, 1, 9)
        #expect(backlog.waiting(after: 0, limit: 9) { _ in true } == [1, 3, 5, 7, 9])
    }

    @Test func aMessageStandsThereOnce() {
        let backlog = self.backlog(3, 7, 3, 7, 7)
        #expect(backlog.waiting(after: 0, limit: 9) { _ in true } == [3, 7])
    }

    @Test func pagesGoOnAfterASequenceAndSkipWhatDoesNotWait() {
        let backlog = self.backlog(1, 2, 3, 4, 5, 6)
        #expect(backlog.waiting(after: 2, limit: 2) { $0 != 4 } == [3, 5])
        #expect(backlog.waiting(after: 6, limit: 2) { _ in true } == [])
    }

    @Test func whatWasTakenOutIsGone() {
        var backlog = self.backlog(1, 2, 3)
        backlog.remove(waiting: 2)
        backlog.remove(waiting: 8)
        #expect(backlog.nextWaiting { _ in true } == 1)
        backlog.dropFirstWaiting()
        #expect(backlog.waiting(after: 0, limit: 9) { _ in true } == [3])
    }
}
