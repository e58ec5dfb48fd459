import Glibc
import Testing

@testable import KiiPushActivation
@testable import KiiPushCore

@Suite struct ActivationQueueTests {
    private typealias Entry = ActivationQueue.Entry

    private static let late = "it waited too long for the program, which had others"
    private static let stopped = "the activator was stopped"

    private static func instant(_ seconds: Int64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: seconds * 1_000_000_000)
    }

    private static func entry(_ number: Int, id: Int64? = nil, until seconds: Int64 = 30) -> Entry {
        Entry(number: number, id: id ?? Int64(number), deadline: instant(seconds))
    }

    private func queue(takesOneMessage: Bool = false) -> ActivationQueue {
        ActivationQueue(takesOneMessage: takesOneMessage, grace: .seconds(5))
    }

    @Test func theFirstMessageStartsTheProgramAndTheNextOneWaitsForItsAnswer() {
        var queue = self.queue()
        queue.deliver(Self.entry(1), now: Self.instant(0))
        queue.deliver(Self.entry(2), now: Self.instant(0))
        #expect(queue.takeOrders() == [.start(with: 1)])
        queue.received(.verdict(id: 1, .result(.noData)), now: Self.instant(1))
        #expect(queue.takeOrders() == [.answer(1, .result(.noData)), .send(2)])
        queue.received(.verdict(id: 2, .rejected("why")), now: Self.instant(1))
        #expect(queue.takeOrders() == [.answer(2, .rejected("why"))])
        #expect(!queue.isIdle)
    }

    @Test func aProgramThatSaysHowManyItTakesGetsAsManyAtOnce() {
        var queue = self.queue()
        for number in 1...5 { queue.deliver(Self.entry(number), now: Self.instant(0)) }
        queue.received(.ready(3), now: Self.instant(0))
        #expect(queue.takeOrders() == [.start(with: 1), .send(2), .send(3)])
        queue.received(.verdict(id: 2, .result(.newData)), now: Self.instant(0))
        #expect(queue.takeOrders() == [.answer(2, .result(.newData)), .send(4)])
    }

    @Test func aLateSuccessCountsUntilTheNextAttempt() {
        var queue = self.queue()
        for number in 1...2 { queue.deliver(Self.entry(number, until: 60), now: Self.instant(0)) }
        queue.received(.late(id: 1), now: Self.instant(30))
        #expect(queue.takeOrders() == [.start(with: 1), .send(2)])
        // After the deadline, only a success counts.
        queue.received(.verdict(id: 1, .result(.failed)), now: Self.instant(31))
        queue.received(.verdict(id: 1, .result(.newData)), now: Self.instant(31))
        queue.received(.verdict(id: 1, .result(.newData)), now: Self.instant(31))
        #expect(queue.takeOrders() == [.answer(1, .result(.newData))])
        queue.received(.late(id: 2), now: Self.instant(31))
        queue.deliver(Self.entry(3, id: 2, until: 90), now: Self.instant(60))
        queue.received(.verdict(id: 2, .result(.noData)), now: Self.instant(61))
        #expect(
            queue.takeOrders() == [
                .fail(2, reason: "the program did not answer in time"), .send(3), .answer(3, .result(.noData)),
            ])
    }

    @Test func soManyOverdueMessagesAreKept() {
        var queue = self.queue()
        for number in 1...102 {
            queue.deliver(Self.entry(number), now: Self.instant(0))
            queue.received(.late(id: Int64(number)), now: Self.instant(0))
        }
        let reason = "the program did not answer in time"
        let orders = queue.takeOrders()
        #expect(orders.contains(.fail(1, reason: reason)) && orders.contains(.fail(2, reason: reason)))
        #expect(!orders.contains(.fail(3, reason: reason)))
        queue.ended(.exited(0), now: Self.instant(1))
        #expect(queue.takeOrders().count == 100)
        #expect(queue.isIdle)
    }

    @Test(arguments: [
        (ChildProcess.Ending.exited(0), ActivationQueue.Order.answer(1, .result(.newData))),
        (.exited(10), .answer(1, .result(.noData))),
        (.exited(65), .answer(1, .rejected("the program refused it (exit status 65)"))),
        (.exited(75), .answer(1, .result(.failed))),
        (.exited(1), .fail(1, reason: "the program ended without an answer: exit status 1")),
        (
            .unknown,
            .fail(
                1,
                reason: "the program ended without an answer: an unknown exit status (is SIGCHLD ignored?)")
        ),
        (.signalled(9), .fail(1, reason: "the program ended without an answer: signal 9")),
    ])
    func theExitStatusAnswersTheOneMessageThatTheProgramHad(
        ending: ChildProcess.Ending, order: ActivationQueue.Order
    ) {
        var queue = self.queue()
        queue.deliver(Self.entry(1), now: Self.instant(0))
        queue.deliver(Self.entry(2), now: Self.instant(0))
        queue.ended(ending, now: Self.instant(1))
        #expect(queue.takeOrders() == [.start(with: 1), order, .start(with: 2)])
    }

    @Test func theExitStatusAnswersNoMessageThatCameAfterTheFirst() {
        var queue = self.queue()
        for number in 1...3 { queue.deliver(Self.entry(number), now: Self.instant(0)) }
        queue.received(.verdict(id: 1, .result(.newData)), now: Self.instant(1))
        queue.ended(.exited(0), now: Self.instant(1))
        #expect(
            queue.takeOrders() == [
                .start(with: 1), .answer(1, .result(.newData)), .send(2),
                .fail(2, reason: "the program ended without an answer: exit status 0"), .start(with: 3),
            ])
    }

    @Test func whatComesWhenTheProgramHasEndedStartsItAgain() {
        var queue = self.queue()
        for number in 1...2 { queue.deliver(Self.entry(number), now: Self.instant(0)) }
        // The queue reads the process's last lines before it learns of the end.
        queue.inputClosed()
        queue.received(.verdict(id: 1, .result(.newData)), now: Self.instant(1))
        queue.ended(.exited(0), now: Self.instant(1))
        #expect(queue.takeOrders() == [.start(with: 1), .answer(1, .result(.newData)), .start(with: 2)])
    }

    @Test(arguments: [ChildProcess.Ending.exited(0), .exited(65), .signalled(15)])
    func aProgramThatEndsSinceItWasToldToSaysNothingByThat(ending: ChildProcess.Ending) {
        var queue = self.queue()
        queue.deliver(Self.entry(1), now: Self.instant(0))
        queue.timePassed(now: Self.instant(30))
        queue.ended(ending, now: Self.instant(31))
        #expect(
            queue.takeOrders() == [
                .start(with: 1), .end(signal: SIGTERM),
                .fail(1, reason: "the program ended without an answer: \(ending)"),
            ])
    }

    @Test func whatWasSentToAProgramThatTakesSeveralMayNotHaveBeenReadWhenItEnds() {
        var queue = self.queue()
        for number in 1...2 { queue.deliver(Self.entry(number), now: Self.instant(0)) }
        queue.received(.ready(4), now: Self.instant(0))
        queue.ended(.exited(0), now: Self.instant(1))
        let reason = "the program ended without an answer: exit status 0"
        #expect(
            queue.takeOrders() == [.start(with: 1), .send(2), .fail(1, reason: reason), .fail(2, reason: reason)])
        #expect(queue.isIdle)
    }

    @Test func oneAttemptAtATimeOfAMessage() {
        var queue = self.queue()
        queue.deliver(Self.entry(1, id: 7), now: Self.instant(0))
        queue.received(.ready(4), now: Self.instant(0))
        queue.deliver(Self.entry(2, id: 7), now: Self.instant(0))
        queue.deliver(Self.entry(3, id: 8), now: Self.instant(0))
        #expect(queue.takeOrders() == [.start(with: 1), .send(3)])
        queue.received(.verdict(id: 7, .result(.failed)), now: Self.instant(0))
        #expect(queue.takeOrders() == [.answer(1, .result(.failed)), .send(2)])
    }

    @Test func aProgramThatDoesNotAnswerInTimeIsEnded() {
        var queue = self.queue()
        queue.deliver(Self.entry(1), now: Self.instant(0))
        #expect(queue.nextDeadline == Self.instant(30))
        queue.timePassed(now: Self.instant(30))
        #expect(queue.takeOrders() == [.start(with: 1), .end(signal: SIGTERM)])
        queue.deliver(Self.entry(2, until: 60), now: Self.instant(31))
        #expect(queue.nextDeadline == Self.instant(35))
        queue.timePassed(now: Self.instant(35))
        #expect(queue.takeOrders() == [.end(signal: SIGKILL)])
        queue.ended(.signalled(9), now: Self.instant(36))
        #expect(
            queue.takeOrders() == [
                .fail(1, reason: "the program ended without an answer: signal 9"), .start(with: 2),
            ])
    }

    @Test func aProgramThatSpeaksTheProtocolMaySayItselfThatAnAttemptIsOver() {
        var queue = self.queue()
        queue.deliver(Self.entry(1), now: Self.instant(0))
        queue.received(.ready(2), now: Self.instant(0))
        #expect(queue.nextDeadline == Self.instant(35))
        queue.timePassed(now: Self.instant(30))
        #expect(queue.takeOrders() == [.start(with: 1)])
        queue.received(.verdict(id: 1, .result(.failed)), now: Self.instant(30))
        #expect(queue.takeOrders() == [.answer(1, .result(.failed))])
        #expect(queue.nextDeadline == nil)
    }

    @Test func whatCannotBeSentInTimeIsLeftToItsNextAttempt() {
        var queue = self.queue()
        queue.deliver(Self.entry(1, until: 60), now: Self.instant(0))
        queue.deliver(Self.entry(2, until: 30), now: Self.instant(0))
        queue.timePassed(now: Self.instant(30))
        #expect(queue.takeOrders() == [.start(with: 1), .fail(2, reason: Self.late)])
    }

    @Test func aProgramThatNeitherReadsNorEndsIsEndedForTheNextMessage() {
        var queue = self.queue()
        queue.deliver(Self.entry(1), now: Self.instant(0))
        queue.received(.verdict(id: 1, .result(.newData)), now: Self.instant(1))
        queue.inputClosed()
        queue.deliver(Self.entry(2), now: Self.instant(2))
        _ = queue.takeOrders()
        queue.timePassed(now: Self.instant(30))
        #expect(queue.takeOrders() == [.fail(2, reason: Self.late), .end(signal: SIGTERM)])
    }

    @Test func aProcessThatTakesOneMessageIsNotInTheWayOfOthers() {
        var queue = self.queue(takesOneMessage: true)
        queue.deliver(Self.entry(1, until: 60), now: Self.instant(0))
        queue.deliver(Self.entry(2), now: Self.instant(0))
        queue.timePassed(now: Self.instant(30))
        #expect(queue.takeOrders() == [.start(with: 1), .fail(2, reason: Self.late)])
        queue.deliver(Self.entry(3, until: 70), now: Self.instant(31))
        queue.ended(.exited(0), now: Self.instant(32))
        #expect(queue.takeOrders() == [.answer(1, .result(.newData)), .start(with: 3)])
    }

    @Test func aStopLetsTheProgramEndAndInsists() {
        var queue = self.queue()
        queue.deliver(Self.entry(1, until: 60), now: Self.instant(0))
        queue.deliver(Self.entry(2, until: 60), now: Self.instant(0))
        queue.stop(now: Self.instant(1))
        #expect(queue.takeOrders() == [.start(with: 1), .fail(2, reason: Self.stopped), .closeInput])
        queue.timePassed(now: Self.instant(6))
        #expect(queue.takeOrders() == [.end(signal: SIGTERM)])
        queue.timePassed(now: Self.instant(11))
        #expect(queue.takeOrders() == [.end(signal: SIGKILL)])
        #expect(queue.nextDeadline == nil)
        #expect(!queue.isIdle)
        queue.ended(.signalled(9), now: Self.instant(12))
        #expect(queue.isIdle)
        queue.deliver(Self.entry(3), now: Self.instant(13))
        #expect(queue.takeOrders().last == .fail(3, reason: Self.stopped))
    }

    @Test func aProgramThatCannotBeStartedFailsThisMessageAlone() {
        var queue = self.queue()
        queue.deliver(Self.entry(1), now: Self.instant(0))
        queue.deliver(Self.entry(2), now: Self.instant(0))
        queue.startFailed(reason: "cannot", now: Self.instant(0))
        #expect(queue.takeOrders() == [.start(with: 1), .fail(1, reason: "cannot"), .start(with: 2)])
    }

    @Test func anAnswerThatNobodyWaitsForChangesNothing() {
        var queue = self.queue()
        queue.deliver(Self.entry(1), now: Self.instant(0))
        queue.received(.verdict(id: 99, .result(.newData)), now: Self.instant(0))
        #expect(queue.takeOrders() == [.start(with: 1)])
    }
}
