import Testing

@testable import KiiPushCore

@Suite struct RecordingTests {
    /// 1000 s on the monotonic clock is 5000 s on the calendar.
    private let clock = TurnClock(now: .at(5000), instant: .seconds(1000))

    private func change(
        _ verdict: MessageChange.Verdict, attempts: Int = 1, crashes: Int = 0, _ attempt: MessageChange.Attempt? = nil
    ) -> MessageChange {
        MessageChange(
            sequence: 1, installation: 1, verdict: verdict, attempts: attempts, crashes: crashes, attempt: attempt)
    }

    @Test func translatesTimesOfTheMonotonicClock() {
        #expect(self.clock.timestamp(of: .seconds(1000)) == .at(5000))
        #expect(self.clock.timestamp(of: .seconds(970)) == .at(4970))
        #expect(self.clock.timestamp(of: .seconds(999.9985)) == Timestamp(millisecondsSinceEpoch: 4_999_998))
        #expect(self.clock.now == .at(5000))
    }

    @Test func keepsTheOrderOfWhatFollowsOneAnother() {
        for _ in 0..<1000 {
            let before = Timestamp.now()
            let point = MonotonicInstant.now()
            let clock = TurnClock(.machine)
            #expect(clock.timestamp(of: point) >= before)
            #expect(clock.timestamp(of: point) <= clock.now)
        }
    }

    @Test func anOrdinaryEndIsNoEvent() {
        let attempt = MessageChange.Attempt(number: 1, startedAt: .seconds(998), endedAt: .seconds(999))
        let change = self.change(.done(.noData), attempt)
        #expect(change.event == nil)
        #expect(change.keepsNumbers && change.isCommonEnd)
        #expect(change.startedAt(by: self.clock) == .at(4998))
        #expect(change.answer == .noData)
        let retried = self.change(.done(.newData), attempts: 3, .init(number: 3, startedAt: .seconds(998)))
        #expect(retried.event == nil)
        #expect(!retried.keepsNumbers)
        #expect(retried.answer == .newData)
    }

    @Test func everythingElseIsAnEvent() {
        let attempt = MessageChange.Attempt(number: 2, startedAt: .seconds(998), endedAt: .seconds(999))
        let failed = self.change(.again(after: 5, .threw("E")), attempts: 2, attempt)
        #expect(failed.event == .failed(attempt: 2, .threw("E"), retryAfter: .seconds(5)))
        #expect(failed.startedAt(by: self.clock) == .at(4998))
        let dead = self.change(.dead(.rejected("no")), attempts: 2, attempt)
        #expect(dead.event == .dead(.rejected("no"), attempt: 2))
        #expect(dead.startedAt(by: self.clock) == .at(4998))
        #expect(self.change(.dead(.command), attempts: 0).event == .dead(.command, attempt: nil))
        let presented = self.change(.presented, attempt)
        #expect(presented.event == .presented)
        #expect(presented.startedAt(by: self.clock) == .at(4998))
        #expect(self.change(.inHand, attempts: 2, crashes: 1, .init(number: 2)).event == .isolated(attempt: 2))
        #expect(self.change(.inHand).event == nil)
        #expect(self.change(.waiting(source: 4)).event == nil)
        #expect(self.change(.setAside).event == nil)
        let late = self.change(.done(.newData), .init(number: 1, endedAt: .seconds(999)))
        #expect(late.event == .done(.newData, attempt: 1, isLate: true))
        #expect(late.answer == nil)
        #expect(!late.keepsNumbers && !late.isCommonEnd)
    }

    @Test func aMessageThatWaitsBelongsToItsSourceUnlessItIsSetAside() {
        let waiting = self.change(.waiting(source: 4), attempts: 2, crashes: 1)
        #expect(waiting.state == .waiting)
        #expect(waiting.source == 4)
        #expect(!waiting.keepsNumbers)
        let setAside = self.change(.setAside)
        #expect(setAside.state == .waiting)
        #expect(setAside.source == .some(nil))
        #expect(self.change(.again(after: 5, .failed)).source == nil)
        #expect(self.change(.again(after: 5, .failed)).nextAttempt(after: .at(5000)) == .at(5005))
    }

    @Test func knowsWhenRowsWereAcknowledged() {
        var times = AcknowledgementTimes()
        #expect(times.time(of: 1) == nil)
        // Message 4 was not acknowledged, because its connection was gone.
        for sequence in [1, 2, 3, 5, 6] as [Int64] { times.note(sequence, at: .at(1)) }
        for sequence in [7, 8] as [Int64] { times.note(sequence, at: .at(2)) }
        let expected: [Timestamp?] = [nil, .at(1), .at(1), .at(1), nil, .at(1), .at(1), .at(2), .at(2), nil]
        #expect((0...9).map { times.time(of: Int64($0)) } == expected)
        #expect((0...9).reversed().map { times.time(of: Int64($0)) } == expected.reversed())
    }

    @Test func forgetsAcknowledgementsOfLongAgo() {
        var times = AcknowledgementTimes()
        let count = Int64(AcknowledgementTimes.kept) * 3
        for sequence in 1...count {
            times.note(sequence, at: .at(sequence))
            if sequence % 1000 == 0 { #expect(times.time(of: sequence - 10) == .at(sequence - 10)) }
        }
        #expect(times.time(of: 1) == nil)
        for sequence in (count - Int64(AcknowledgementTimes.kept) + 1)...count {
            #expect(times.time(of: sequence) == .at(sequence))
        }
    }
}
