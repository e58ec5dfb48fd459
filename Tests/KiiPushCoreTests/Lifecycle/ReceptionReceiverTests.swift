import Dispatch
import TestSupport
import Testing

@testable import KiiPushCore

extension StoredMessage {
    fileprivate static func aps(_ sequence: Int64, _ aps: String) -> StoredMessage {
        .of(#"{"aps":\#(aps),"n":\#(sequence)}"#, sequence)
    }
}

private struct Reached {
    let fixture: DeliveryFixture
    let lifecycle: AgentLifecycle
    let badges = Journal<NotificationContent.Badge>()

    init(
        _ handler: any NotificationHandler, _ state: LifecycleState, _ presenter: (any NotificationPresenter)?,
        launchOptions: LaunchOptions = .init(), _ change: (inout DeliveryConfiguration) -> Void = { _ in }
    ) async throws {
        self.lifecycle = AgentLifecycle(launchOptions: launchOptions, state: state)
        let desk = PresentationDesk(presenter: presenter, lifecycle: self.lifecycle)
        let receiver = ReceptionReceiver(
            handler: handler, lifecycle: self.lifecycle, desk: desk,
            applyBadge: { [badges = self.badges] badge, _ in badges.add(badge) })
        self.fixture = try await DeliveryFixture(receiver, change)
        desk.attach(
            installations: [(1, "installation-1")], self.fixture.loop.reactions(in: self.fixture.pipeline))
    }

    var store: JournalStore { self.fixture.store }

    func deliver(_ messages: [StoredMessage]) { self.fixture.deliver(messages) }
}

@Suite struct ReceptionReceiverTests {
    private static let alert = #"{"alert":"Dinner","sound":"chime","category":"meal","thread-id":"t"}"#

    private func handler(_ calls: Journal<String>) -> ClosureHandler {
        ClosureHandler { _, context, completion in
            calls.add("\(context.messageID) \(context.state)\(context.isUserOpened ? " opened" : "")")
            completion(.newData)
        }
    }

    @Test(arguments: [LifecycleState.active, .inactive])
    func inTheForegroundTheHandlerIsCalledAndNothingPresented(state: LifecycleState) async throws {
        let calls = Journal<String>()
        let shown = Locked(0)
        let presenter = RecordingPresenter { _ in
            shown.withLock { $0 += 1 }
            return .presented
        }
        let reached = try await Reached(self.handler(calls), state, presenter)
        reached.deliver([.aps(1, Self.alert), .aps(2, "{}"), .push(3)])
        #expect(await calls.first(3).sorted() == (1...3).map { "\($0) \(state)" })
        await reached.store.changes.first(3)
        #expect(shown.withLock { $0 } == 0)
    }

    @Test func inTheBackgroundAnAlertIsPresentedWithAllThatAPresenterNeeds() async throws {
        let calls = Journal<String>()
        let presenter = RecordingPresenter()
        let reached = try await Reached(self.handler(calls), .background, presenter)
        reached.deliver([.aps(7, Self.alert)])
        let request = try #require(await presenter.next())
        #expect(request.key == .init(installationID: "installation-1", messageID: 7))
        #expect(request.id == "7@installation-1")
        #expect(request.alert.body == "Dinner")
        #expect(request.sound == "chime")
        #expect(request.category == "meal")
        #expect(request.threadID == "t")
        #expect(request.receivedAt == .at(5))
        #expect(!request.wasPresentedBefore)
        #expect(await reached.store.changes.first(1).map(\.verdict) == [.presented])
        #expect(calls.entries == [])
    }

    @Test func anAlertForTheProgramTooIsBoth() async throws {
        let calls = Journal<String>()
        let presenter = RecordingPresenter()
        let reached = try await Reached(self.handler(calls), .background, presenter)
        reached.deliver([.aps(1, #"{"alert":"Dinner","content-available":1}"#)])
        #expect(await calls.first(1) == ["1 background"])
        let request = try #require(await presenter.next())
        #expect(await reached.store.changes.first(1).map(\.verdict) == [.done(.newData)])
        // The message is done, so the dismissal of its alert changes nothing.
        #expect(request.respond(.dismissed))
        await reached.fixture.settle()
        #expect(reached.store.changes.entries.count == 1)
    }

    @Test func whatIsForNobodyEndsAsNoDataAndIsTold() async throws {
        let calls = Journal<String>()
        let reached = try await Reached(self.handler(calls), .background, RecordingPresenter())
        reached.deliver([.aps(1, #"{"badge":3}"#)])
        #expect(await reached.store.changes.first(1).map(\.verdict) == [.done(.noData)])
        await reached.fixture.settle()
        #expect(reached.fixture.events == [.received, .started(attempt: 1), .unreached(attempt: 1)])
        #expect(calls.entries == [])
        #expect(reached.badges.entries == [.set(3)])
    }

    @Test func kiisPayloadsWithoutApsAlwaysReachTheHandlerAndLeaveTheBadgeAlone() async throws {
        let calls = Journal<String>()
        let reached = try await Reached(self.handler(calls), .background, RecordingPresenter())
        reached.deliver([.push(1)])
        #expect(await calls.first(1) == ["1 background"])
        #expect(reached.badges.entries == [])
    }

    @Test(arguments: [true, false])
    func withoutAPresenterTheHandlerIsCalledAtOnce(hasPresenter: Bool) async throws {
        let calls = Journal<String>()
        let answered = Journal<Bool>()
        let kept = Locked<NotificationRequest?>(nil)
        let presenter = RecordingPresenter { request in
            kept.withLock { $0 = request }
            return .unavailable
        }
        let reached = try await Reached(self.handler(calls), .background, hasPresenter ? presenter : nil)
        reached.deliver([.aps(1, Self.alert)])
        #expect(await calls.first(1) == ["1 background"])
        #expect(await reached.store.changes.first(1).map(\.verdict) == [.done(.newData)])
        if let request = kept.withLock({ $0 }) { answered.add(request.respond(.opened(.open))) }
        #expect(answered.entries == (hasPresenter ? [false] : []))
    }

    /// A presenter's timeout is no failed attempt: the handler still gets the message, even with only one attempt.
    @Test(arguments: [ReceptionReceiverTests.alert, #"{"alert":"Dinner","content-available":1}"#])
    func aPresenterThatDoesNotReturnInTimeIsLeftOut(aps: String) async throws {
        let calls = Journal<String>()
        let clock = Locked<(@Sendable () -> Void)?>(nil)
        let hangs = DispatchSemaphore(value: 0)
        let shown = Locked(0)
        let presenter = RecordingPresenter { _ in
            shown.withLock { $0 += 1 }
            clock.withLock { $0 }?()
            hangs.wait()
            return .presented
        }
        let reached = try await Reached(self.handler(calls), .background, presenter) { $0.retryDelays = [] }
        clock.withLock { body in
            body = { [clock = reached.fixture.clock, loop = reached.fixture.loop] in
                clock.advance(.seconds(31))
                loop.submit {}
            }
        }
        reached.deliver([.aps(1, aps)])
        #expect(await calls.first(1) == ["1 background"])
        await reached.store.changes.first(1)
        hangs.signal()
        #expect(reached.store.verdicts == [.done(.newData)])
        #expect(reached.store.changes.entries.map(\.attempts) == [1])
        #expect(shown.withLock { $0 } == 1)
        await reached.fixture.settle()
        #expect(
            reached.fixture.events == [
                .received, .started(attempt: 1), .stuck(attempt: 1), .started(attempt: 1),
                .done(.newData, attempt: 1, isLate: false),
            ])
    }

    @Test func aHandlerThatFailedIsCalledAgainInWhateverStateTheProgramIsThen() async throws {
        let calls = Journal<String>()
        let handler = ClosureHandler { _, context, completion in
            calls.add("\(context.attempt) \(context.state)")
            completion(context.attempt == 1 ? .failed : .newData)
        }
        let reached = try await Reached(handler, .active, RecordingPresenter())
        reached.deliver([.aps(1, Self.alert)])
        await reached.store.changes.first(1)
        reached.lifecycle.didEnterBackground()
        await reached.fixture.advance(.seconds(1))
        #expect(await calls.first(2) == ["1 active", "2 background"])
    }

    @Test func theMessageThatTheProgramWasLaunchedForReachesTheHandler() async throws {
        let calls = Journal<String>()
        let options = LaunchOptions(remoteNotification: .alert("Dinner"), messageID: 1)
        let presenter = RecordingPresenter()
        let reached = try await Reached(self.handler(calls), .background, presenter, launchOptions: options)
        reached.deliver([.aps(1, Self.alert), .aps(2, Self.alert)])
        #expect(await calls.first(1) == ["1 background"])
        #expect(await presenter.next()?.key.messageID == 2)
    }

    // MARK: - Opened

    private func opened(_ sequence: Int64, by action: UserAction = .open) -> StoredMessage {
        .aps(sequence, Self.alert).with { $0.openedBy = action }
    }

    @Test(arguments: LifecycleState.allCases)
    func whatTheUserOpensIsReceivedAgainInStateInactive(state: LifecycleState) async throws {
        let calls = Journal<String>()
        let reached = try await Reached(self.handler(calls), state, RecordingPresenter())
        reached.deliver([self.opened(1)])
        #expect(await calls.first(1) == ["1 inactive opened"])
        #expect(reached.badges.entries == [])
    }

    private final class ActionHandler: RemoteNotificationHandler, UserActionHandler {
        let calls = Journal<String>()

        func didReceiveRemoteNotification(
            _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
        ) {
            self.calls.add("received")
            completion(.newData)
        }

        func handleAction(
            _ action: UserAction, for message: ReceivedMessage, context: DeliveryContext,
            completionHandler completion: FetchCompletion
        ) {
            self.calls.add("\(action.identifier ?? "open") \(context.state) \(context.isUserOpened) \(message.text)")
            completion(context.attempt == 1 ? .failed : .newData)
        }
    }

    @Test(arguments: [UserAction.open, .custom("reply")])
    func aUserActionHandlerIsCalledInsteadByTheSameRules(action: UserAction) async throws {
        let handler = ActionHandler()
        let reached = try await Reached(handler, .background, RecordingPresenter())
        reached.deliver([self.opened(1, by: action)])
        await reached.store.changes.first(1)
        await reached.fixture.advance(.seconds(1))
        let call = "\(action.identifier ?? "open") inactive true Dinner"
        #expect(await handler.calls.first(2) == [call, call])
    }

    @Test func alsoWhatIsOpenedGoesToTheFormWithACompletion() async throws {
        let called = Journal<String>()
        let handler = deprecatedHandler(called, besides: "completion")
        let reached = try await Reached(handler, .background, RecordingPresenter())
        reached.deliver([self.opened(1), .push(2)])
        #expect(await called.first(2) == ["completion", "completion"])
    }

    private struct OpeningHandler: RemoteNotificationHandler, OpenedNotificationHandler {
        let journal: Journal<String>

        func didReceiveRemoteNotification(
            _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
        ) {
            self.journal.add("received \(context.attempt) \(context.state)")
            completion(context.attempt == 1 && context.isUserOpened ? .failed : .newData)
        }

        func openedFromNotification(_ message: ReceivedMessage) { self.journal.add("opened \(message.text)") }
    }

    @Test func anOpeningIsToldOnceHoweverOftenItIsAttempted() async throws {
        let journal = Journal<String>()
        let reached = try await Reached(OpeningHandler(journal: journal), .inactive, RecordingPresenter())
        reached.deliver([self.opened(1)])
        await reached.store.changes.first(1)
        reached.lifecycle.didBecomeActive()
        await reached.fixture.advance(.seconds(1))
        await journal.first(3)
        reached.lifecycle.willResignActive()
        reached.lifecycle.didBecomeActive()
        #expect(journal.entries == ["received 1 inactive", "opened Dinner", "received 2 inactive"])
    }

    @Test func anOpeningWhoseFirstAttemptWasAnEarlierProcessesIsTold() async throws {
        let journal = Journal<String>()
        let reached = try await Reached(OpeningHandler(journal: journal), .inactive, RecordingPresenter())
        reached.deliver([self.opened(1).with { $0.attempts = 1 }])
        await reached.store.changes.first(1)
        reached.lifecycle.didBecomeActive()
        #expect(journal.entries == ["received 2 inactive", "opened Dinner"])
    }

    @Test func onlyTheInboxThatTheLaunchNamesHasItsMessage() async throws {
        let calls = Journal<String>()
        let options = LaunchOptions(
            remoteNotification: .alert("Dinner"), messageID: 1, installationID: "installation-2")
        let presenter = RecordingPresenter()
        let reached = try await Reached(self.handler(calls), .background, presenter, launchOptions: options)
        reached.deliver([.aps(1, Self.alert)])
        #expect(await presenter.next()?.key.messageID == 1)
        await reached.store.changes.first(1)
        #expect(calls.entries == [])
    }

    @Test func aPushThatArrivesDuringTheOpeningIsNotWhatWasOpened() async throws {
        let journal = Journal<String>()
        let reached = try await Reached(OpeningHandler(journal: journal), .inactive, RecordingPresenter())
        reached.deliver([self.opened(1)])
        await reached.store.changes.first(1)
        reached.deliver([.aps(2, #"{"alert":"Supper"}"#)])
        await reached.store.changes.first(2)
        reached.lifecycle.didBecomeActive()
        #expect(journal.entries == ["received 1 inactive", "received 1 inactive", "opened Dinner"])
    }

    @Test func aRequestIsAnsweredOnceAndLeadsTheProgramToTheForegroundFirst() async throws {
        let journal = Journal<String>()
        let presenter = RecordingPresenter()
        let reached = try await Reached(OpeningHandler(journal: journal), .background, presenter)
        let lifecycle = reached.lifecycle
        lifecycle.onForegroundRequest { message in journal.add("come with \(message.text), \(lifecycle.state)") }
        reached.deliver([.aps(1, Self.alert)])
        await reached.store.changes.first(1)
        let request = try #require(await presenter.next())
        #expect(request.respond(.opened(.custom("reply"))))
        #expect(!request.respond(.opened(.open)))
        #expect(!request.respond(.dismissed))
        #expect(await journal.first(2) == ["come with Dinner, inactive", "received 1 inactive"])
        let change = await reached.store.changes.first(2)[1]
        guard case .opened(let message, let action, _) = change.verdict else {
            Issue.record("\(change)")
            return
        }
        #expect(action == .custom("reply"))
        #expect(message.payload == StoredMessage.aps(1, Self.alert).payload)
    }

    @Test(arguments: [PresentationResponse.dismissed, .expired])
    func whatIsNotOpenedIsDone(response: PresentationResponse) async throws {
        let presenter = RecordingPresenter()
        let reached = try await Reached(self.handler(Journal()), .background, presenter)
        reached.deliver([.aps(1, Self.alert)])
        #expect(try #require(await presenter.next()).respond(response))
        #expect(await reached.store.changes.first(2).map(\.verdict) == [.presented, .unopened])
    }

    @Test func afterAShutdownNothingCounts() async throws {
        let presenter = RecordingPresenter()
        let reached = try await Reached(self.handler(Journal()), .background, presenter)
        reached.deliver([.aps(1, Self.alert)])
        await reached.store.changes.first(1)
        let request = try #require(await presenter.next())
        reached.fixture.end()
        #expect(!request.respond(.opened(.open)))
        #expect(reached.store.changes.entries.count == 1)
    }
}
