import KiiPushCore
import TestSupport
import Testing

extension MessageChange {
    static func opened(_ sequence: Int64, by choice: String) -> MessageChange {
        var change = MessageChange(sequence: sequence, state: .waiting)
        let message = StoredMessage(sequence: sequence, installation: 1, topic: "", payload: [], receivedAt: .at(1000))
        change.verdict = .opened(message, by: UserAction(stored: choice))
        return change
    }
}

@Suite struct InboxOpeningTests {
    @Test(arguments: [RowState.presented, .done, .dead, .retry, .waiting])
    func whatTheUserOpensWaitsWithItsAttemptsForgotten(state: RowState) throws {
        let fixture = try InboxFixture()
        var inbox = try fixture.open()
        try inbox.insert([.sample()])
        try inbox.update(MessageChange(sequence: 1, state: state, attempts: 3, crashes: 1))
        try inbox.update(.opened(1, by: "reply"))
        inbox = try fixture.open()
        let row = try #require(try inbox.row(1))
        #expect(row.state == .waiting)
        #expect(row.attempts == 0)
        #expect(row.crashes == 0)
        #expect(row.nextAttempt == nil)
        #expect(row.openedBy == .custom("reply"))
        #expect(inbox.messageLedger == MessageLedger(received: 1, waiting: 1))
        #expect(try LedgerAudit.problems(inInboxAt: fixture.path) == [])
        let record = try #require(try inbox.record(1))
        #expect(record.events.contains { $0.kind == .opened(.custom("reply")) })
        #expect(!record.missing.contains(.laterEvents))
    }

    @Test func whatIsInHandStaysSoAndIsKnownToBeOpened() throws {
        let inbox = try InboxFixture().open()
        try inbox.insert([.sample()])
        try inbox.update(MessageChange(sequence: 1, state: .inHand, attempts: 2, crashes: 1))
        try inbox.update(.opened(1, by: ""))
        let row = try #require(try inbox.row(1))
        #expect(row.state == .inHand)
        #expect(row.attempts == 2)
        #expect(row.crashes == 1)
        #expect(row.openedBy == .open)
        #expect(inbox.messageLedger.running == 1)
        try inbox.update(MessageChange(sequence: 1, state: .retry, attempts: 3))
        #expect(try inbox.row(1)?.openedBy == .open)
    }

    @Test(arguments: RowState.allCases)
    func onlyWhatIsPresentedIsDoneWhenItIsDismissed(state: RowState) throws {
        let inbox = try InboxFixture().open()
        try inbox.insert([.sample()])
        try inbox.update(MessageChange(sequence: 1, state: state, attempts: 1))
        var change = MessageChange(sequence: 1, state: .done)
        change.verdict = .unopened
        let isChanged = try inbox.update(change)
        #expect(isChanged == (state == .presented))
        #expect(try inbox.row(1)?.state == (state == .presented ? .done : state))
        if state == .presented {
            #expect(try inbox.record(1)?.events.last?.kind == .done(.noData, attempt: 1, isLate: false))
        }
    }

    @Test(arguments: ["", "reply", "ü\"1,2", "\u{1F}mute"])
    func theRecordReadsBackWhatWasChosen(choice: String) throws {
        let inbox = try InboxFixture().open()
        try inbox.insert([.sample()])
        try inbox.update(.opened(1, by: choice))
        #expect(try inbox.record(1)?.events.last?.kind == .opened(UserAction(stored: choice)))
    }
}
