import Testing

@testable import KiiPushCore

/// Before a commit, the loop may wait for a moment to gather more messages.
@Suite struct GatheringTests {
    private let start = MonotonicInstant.seconds(1000)

    @Test func aMessageThatComesAloneWaitsForNothing() {
        var gathering = Gathering()
        for index in 0..<10 {
            gathering.received(1, at: self.start + .microseconds(300 * index))
            #expect(gathering.pause == .zero)
        }
    }

    @Test func whatFollowsCloselyIsGathered() {
        var gathering = Gathering()
        gathering.received(1, at: self.start)
        gathering.received(1, at: self.start + .microseconds(299))
        #expect(gathering.pause == .microseconds(50))
    }

    @Test func aTurnWithManyMessagesNeedsNoPause() {
        var gathering = Gathering()
        gathering.received(1, at: self.start)
        gathering.received(63, at: self.start + .microseconds(10))
        #expect(gathering.pause == .microseconds(50))
        gathering.received(64, at: self.start + .microseconds(20))
        #expect(gathering.pause == .zero)
    }

    @Test func aTurnWithoutMessagesEndsThePause() {
        var gathering = Gathering()
        gathering.received(1, at: self.start)
        gathering.received(1, at: self.start + .microseconds(10))
        gathering.received(0, at: self.start + .microseconds(70))
        #expect(gathering.pause == .zero)
    }
}
