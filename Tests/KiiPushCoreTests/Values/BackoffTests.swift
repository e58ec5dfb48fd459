import KiiPushCore
import Testing

@Suite struct BackoffTests {
    @Test func pausesDoubleUpToTheLongest() {
        var pauses = Backoff(from: .seconds(5), upTo: .seconds(300))
        #expect((0..<8).map { _ in pauses.next() } == [5, 10, 20, 40, 80, 160, 300, 300].map { .seconds($0) })
        pauses.reset()
        #expect(pauses.next() == .seconds(5))
    }

    @Test func pausesBeginAnewAfterAnAttemptThatLastedLongerThanTheLongest() {
        var pauses = Backoff(from: .seconds(1), upTo: .seconds(300))
        for expected in [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300] as [Int64] {
            #expect(pauses.next(after: .seconds(300)) == .seconds(expected))
        }
        #expect(pauses.next(after: .seconds(301)) == .seconds(1))
        #expect(pauses.next(after: .zero) == .seconds(2))
    }

    @Test func aDrawnPauseIsAtLeastHalfAndNeverMore() {
        for jitter in [0, 0.25, 0.999] {
            var pauses = Backoff(from: .seconds(5), upTo: .seconds(300))
            #expect((.milliseconds(2500) ... .seconds(5)).contains(pauses.next(jitter: jitter)))
        }
    }

    @Test func theFirstPauseIsNoLongerThanTheLongest() {
        var pauses = Backoff(from: .seconds(5), upTo: .seconds(2))
        #expect(pauses.next() == .seconds(2))
    }
}
