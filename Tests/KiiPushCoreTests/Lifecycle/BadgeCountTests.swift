import Testing

@testable import KiiPushCore

/// "The absence of a `badge` property indicates that any number currently badging the icon should be removed."
@Suite struct BadgeCountTests {
    private func apply(
        _ badge: NotificationContent.Badge, _ id: Int64, at seconds: Int64 = 1000, to count: inout BadgeCount
    ) {
        count.apply(badge, messageID: id, receivedAt: .at(seconds), now: .at(2000))
    }

    @Test(arguments: [(5, 5), (1, 1), (0, nil), (-3, nil)] as [(Int, Int?)])
    func aNumberIsSetAndZeroOrLessIsOutOfView(number: Int, inView: Int?) {
        var count = BadgeCount(number: 9)
        self.apply(.set(number), 1, to: &count)
        #expect(count.number == inView)
        count.set(number)
        #expect(count.number == inView)
    }

    @Test func withoutANumberItIsRemoved() {
        var count = BadgeCount(number: 9)
        self.apply(.remove, 1, to: &count)
        #expect(count.number == nil)
    }

    @Test func theMessageThatWasReceivedLastCountsNotTheOneThatIsHandledLast() {
        var count = BadgeCount()
        self.apply(.set(2), 2, at: 1001, to: &count)
        self.apply(.set(1), 1, at: 1000, to: &count)
        #expect(count.number == 2)
        // Within one millisecond the message ID decides.
        self.apply(.set(4), 4, at: 1002, to: &count)
        self.apply(.set(3), 3, at: 1002, to: &count)
        #expect(count.number == 4)
    }

    @Test func whatTheProgramSetsHoldsUntilTheNextMessage() {
        var count = BadgeCount()
        self.apply(.set(2), 2, to: &count)
        count.set(nil)
        #expect(count.number == nil)
        self.apply(.set(3), 3, to: &count)
        #expect(count.number == 3)
    }

    @Test func aMessageThatComesAgainChangesNothing() {
        var count = BadgeCount()
        self.apply(.set(2), 2, to: &count)
        count.set(nil)
        self.apply(.set(2), 2, to: &count)
        #expect(count.number == nil)
    }

    @Test func aCalendarThatWasSetBackHoldsUpNothing() {
        var count = BadgeCount(number: 9, receivedAt: .at(5000))
        self.apply(.set(1), 1, to: &count)
        #expect(count.number == 1)
    }
}
