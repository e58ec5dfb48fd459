import Foundation
import KiiPushCore
import TestSupport
import Testing

@Suite struct PresentationTests {
    typealias Storage = PushRuntime.Configuration.Inbox

    static let dinner = #"{"aps":{"alert":"Dinner","badge":2},"n":1}"#
    static let supper = #"{"aps":{"alert":"Supper","content-available":1},"n":1}"#

    struct Stage: Sendable {
        let broker: FakeBroker
        let runtime: PushRuntime
        let configuration: PushAgent.Configuration

        func agent(
            _ handler: some NotificationHandler, _ presenter: (any NotificationPresenter)?,
            on runtime: PushRuntime? = nil, _ lifecycle: AgentLifecycle = AgentLifecycle(state: .background)
        ) -> PushAgent {
            PushAgent(
                runtime: runtime ?? self.runtime, configuration: self.configuration, handler: handler,
                lifecycle: lifecycle, presenter: presenter, reconnect: .quick)
        }

        /// A new runtime on the same directory, as of another process.
        func nextRuntime() async throws -> PushRuntime {
            await self.runtime.shutdown()
            return try PushRuntime(
                configuration: .patient(stateDirectory: self.runtime.configuration.stateDirectory))
        }

        /// Sends the payloads with the packet identifiers 1, 2, … and waits for their acknowledgements.
        func send(_ payloads: String...) async throws -> FakeConnection {
            try await self.broker.play { broker in
                let connection = try broker.acceptSession()
                for (index, payload) in payloads.enumerated() {
                    try connection.send(
                        .publish(
                            MQTTPublish(
                                topic: "topic-1", payload: Array(payload.utf8), qos: .atLeastOnce, duplicate: false,
                                packetID: UInt16(index + 1))))
                }
                #expect(
                    try connection.receiveAcknowledgements(payloads.count) == payloads.indices.map { UInt16($0 + 1) })
                return connection
            }
        }

        func connect() async throws -> FakeConnection { try await self.send() }
    }

    func withStage(
        _ storage: Storage = .file, shutdownGrace: Duration = .seconds(600), _ body: (Stage) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            try await withFakeBroker(
                in: directory, inbox: storage, configure: { $0.shutdownGrace = shutdownGrace }
            ) { broker, runtime, configuration in
                try await body(Stage(broker: broker, runtime: runtime, configuration: configuration))
            }
        }
    }

    func happens(
        _ kind: MessageEvent.Kind, to messageID: Int64 = 1, in events: AsyncStream<PushEvent>
    ) async {
        _ = await firstEvent(events) { event in
            if case .message(let message) = event {
                message.kind == kind && message.messageID == messageID
            } else {
                false
            }
        }
    }

    @Test(arguments: [Storage.file, .memory])
    func anAlertRestsHoldsNothingUpAndIsHandedOverWhenItIsOpened(storage: Storage) async throws {
        try await self.withStage(storage) { stage in
            let (handler, presenter) = (RecordingHandler(), RecordingPresenter())
            let agent = stage.agent(handler, presenter)
            let (events, later) = (agent.events, agent.events)
            try await whileRunning(agent) {
                // The agent acknowledges both messages before the user reacts to the first.
                let kept = try await stage.send(Self.dinner, #"{"n":2}"#)
                #expect(await handler.next(1).map(\.context.messageID) == [2])
                await self.happens(.presented, in: events)
                // The agent stores the answer after the handler has returned.
                let expected = MessageLedger(received: 2, presented: 1, done: 1)
                while try await stage.runtime.ledger() != expected { try await Task.sleep(for: .milliseconds(10)) }
                #expect(try #require(await presenter.next()).respond(.opened(.custom("reply"))))
                let call = try #require(await handler.next(1).first)
                #expect(call.context.messageID == 1)
                #expect(call.context.isUserOpened)
                #expect(call.context.userAction == .custom("reply"))
                #expect(call.context.state == .inactive)
                #expect(call.message["n"]?.int64 == 1)
                await self.happens(.done(.newData, attempt: 1, isLate: false), to: 1, in: later)
                #expect(try await stage.runtime.ledger() == MessageLedger(received: 2, done: 2))
                withExtendedLifetime(kept) {}
            }
        }
    }

    @Test(arguments: [Storage.file, .memory], [PresentationResponse.dismissed, .expired])
    func anAlertThatIsNotOpenedIsDone(storage: Storage, response: PresentationResponse) async throws {
        try await self.withStage(storage) { stage in
            let presenter = RecordingPresenter()
            let agent = stage.agent(RecordingHandler(), presenter)
            let events = agent.events
            try await whileRunning(agent) {
                let kept = try await stage.send(Self.dinner)
                await self.happens(.presented, in: events)
                #expect(try #require(await presenter.next()).respond(response))
                // The presenting thread stores the response after the event.
                let expected = MessageLedger(received: 1, done: 1)
                while try await stage.runtime.ledger() != expected { try await Task.sleep(for: .milliseconds(10)) }
                withExtendedLifetime(kept) {}
            }
            if storage == .file {
                let path = "\(stage.runtime.configuration.stateDirectory)"
                let trace = try InboxReader(stateDirectory: path).trace(of: 1)
                #expect(trace.events.last?.kind == .done(.noData, attempt: 1, isLate: false))
            }
        }
    }

    @Test(arguments: [Storage.file, .memory])
    func whatWasHandledIsHandedOverAgainWhenItsAlertIsOpened(storage: Storage) async throws {
        try await self.withStage(storage) { stage in
            let (handler, presenter) = (RecordingHandler(), RecordingPresenter())
            let agent = stage.agent(handler, presenter)
            let events = agent.events
            try await whileRunning(agent) {
                let kept = try await stage.send(Self.supper)
                #expect(await handler.next(1).map(\.context.isUserOpened) == [false])
                await self.happens(.done(.newData, attempt: 1, isLate: false), in: events)
                #expect(try #require(await presenter.next()).respond(.opened(.open)))
                let call = try #require(await handler.next(1).first)
                #expect(call.context.messageID == 1)
                #expect(call.context.isUserOpened)
                #expect(call.message.content?.alert?.body == "Supper")
                withExtendedLifetime(kept) {}
            }
            #expect(try await stage.runtime.ledger() == MessageLedger(received: 1, done: 1))
        }
    }

    @Test func whatIsOpenedWhileItIsHandledIsRecordedOnce() async throws {
        try await self.withStage { stage in
            let opened = DispatchSemaphore(value: 0)
            let handler = RecordingHandler { call in
                if !call.context.isUserOpened { opened.wait() }
                return .newData
            }
            let presenter = RecordingPresenter()
            let agent = stage.agent(handler, presenter)
            try await whileRunning(agent) {
                let kept = try await stage.send(Self.supper)
                #expect(try #require(await presenter.next()).respond(.opened(.open)))
                opened.signal()
                #expect(await handler.next(2).map(\.context.isUserOpened) == [false, true])
                withExtendedLifetime(kept) {}
            }
            let reader = try InboxReader(stateDirectory: stage.runtime.configuration.stateDirectory)
            let kinds = try reader.trace(of: 1).events.map(\.kind)
            #expect(kinds.count { $0 == .opened(.open) } == 1)
        }
    }

    private func presentDinner(_ stage: Stage) async throws {
        let agent = stage.agent(RecordingHandler(), RecordingPresenter())
        let events = agent.events
        try await whileRunning(agent) {
            let kept = try await stage.send(Self.dinner)
            await self.happens(.presented, in: events)
            withExtendedLifetime(kept) {}
        }
    }

    @Test func anAlertSurvivesARestartAndIsOpenedAfterIt() async throws {
        try await self.withStage { stage in
            try await self.presentDinner(stage)
            let runtime = try await stage.nextRuntime()
            let (handler, presenter) = (OpeningRecorder(), RecordingPresenter())
            // In the foreground too, because the user may still open an old notification.
            let lifecycle = AgentLifecycle(state: .inactive)
            let agent = stage.agent(handler, presenter, on: runtime, lifecycle)
            try await whileRunning(agent) {
                let kept = try await stage.connect()
                let request = try #require(await presenter.next())
                #expect(request.wasPresentedBefore)
                #expect(request.key.messageID == 1)
                #expect(request.alert.body == "Dinner")
                #expect(try await runtime.ledger().presented == 1)
                #expect(request.respond(.opened(.open)))
                #expect(await handler.next() == "received 1 inactive opened")
                lifecycle.didBecomeActive()
                #expect(await handler.next() == "opened Dinner")
                withExtendedLifetime(kept) {}
            }
            #expect(try await runtime.ledger() == MessageLedger(received: 1, done: 1))
            await runtime.shutdown()
        }
    }

    @Test(arguments: [nil, .open, .custom("reply")] as [UserAction?])
    func theMessageThatAProgramIsLaunchedForReachesTheHandlerAlthoughItRests(action: UserAction?) async throws {
        try await self.withStage { stage in
            try await self.presentDinner(stage)
            let runtime = try await stage.nextRuntime()
            let handler = RecordingHandler()
            let options = LaunchOptions(
                remoteNotification: try ReceivedMessage(payload: Array(Self.dinner.utf8)), messageID: 1,
                userAction: action)
            let agent = stage.agent(
                handler, RecordingPresenter(), on: runtime, AgentLifecycle(launchOptions: options))
            try await whileRunning(agent) {
                let kept = try await stage.connect()
                let call = try #require(await handler.next(1).first)
                #expect(call.context.messageID == 1)
                #expect(call.context.userAction == action)
                withExtendedLifetime(kept) {}
            }
            #expect(try await runtime.ledger() == MessageLedger(received: 1, done: 1))
            await runtime.shutdown()
        }
    }

    @Test(arguments: [Storage.file, .memory])
    func aRedeliveryOfWhatWasOpenedIsRecognised(storage: Storage) async throws {
        try await self.withStage(storage) { stage in
            let (handler, presenter) = (RecordingHandler(), RecordingPresenter())
            let agent = stage.agent(handler, presenter)
            let events = agent.events
            try await whileRunning(agent) {
                func supper(duplicate: Bool) -> MQTTPacket {
                    .publish(
                        MQTTPublish(
                            topic: "topic-1", payload: Array(Self.supper.utf8), qos: .atLeastOnce, duplicate: duplicate,
                            packetID: 5))
                }
                let first = try await stage.broker.bring([supper(duplicate: false)])
                #expect(try #require(await presenter.next()).respond(.opened(.open)))
                #expect(await handler.next(2).map(\.context.isUserOpened) == [false, true])
                await self.happens(.opened(.open), in: events)
                // The broker may not have the acknowledgement.
                first.reset()
                let second = try await stage.broker.bring([supper(duplicate: true)])
                let ledger = try await stage.runtime.ledger()
                #expect(ledger == MessageLedger(received: 2, duplicates: 1, done: 1))
                withExtendedLifetime(second) {}
            }
        }
    }

    @Test(arguments: [true, false])
    func whatCannotBeShownAgainReachesTheHandler(hasPresenter: Bool) async throws {
        try await self.withStage { stage in
            try await self.presentDinner(stage)
            let runtime = try await stage.nextRuntime()
            let handler = RecordingHandler()
            let presenter = hasPresenter ? RecordingPresenter { _ in .unavailable } : nil
            let agent = stage.agent(handler, presenter, on: runtime)
            try await whileRunning(agent) {
                let kept = try await stage.connect()
                let call = try #require(await handler.next(1).first)
                #expect(call.context.messageID == 1)
                #expect(!call.context.isUserOpened)
                withExtendedLifetime(kept) {}
            }
            #expect(try await runtime.ledger() == MessageLedger(received: 1, done: 1))
            await runtime.shutdown()
        }
    }

    @Test(arguments: [Storage.file, .memory], [true, false])
    func whatNothingShowsAnyMoreIsDeliveredAgain(storage: Storage, isShownAgain: Bool) async throws {
        try await self.withStage(storage) { stage in
            let isThere = Locked(true)
            let handler = RecordingHandler()
            let presenter = RecordingPresenter { _ in isThere.withLock { $0 } ? .presented : .unavailable }
            let agent = stage.agent(handler, presenter)
            let events = agent.events
            try await whileRunning(agent) {
                let kept = try await stage.send(Self.dinner)
                await self.happens(.presented, in: events)
                isThere.withLock { $0 = isShownAgain }
                #expect(try #require(await presenter.next()).respond(.unavailable))
                let again = try #require(await presenter.next())
                if isShownAgain {
                    #expect(again.key.messageID == 1)
                    #expect(again.respond(.opened(.open)))
                }
                #expect(await handler.next(1).map(\.context.isUserOpened) == [isShownAgain])
                withExtendedLifetime(kept) {}
            }
            #expect(try await stage.runtime.ledger() == MessageLedger(received: 1, done: 1))
        }
    }

    @Test func whatIsOpenedWhileTheAgentDoesNotRunIsHandedOverByItsNextRun() async throws {
        try await self.withStage { stage in
            let (handler, presenter) = (RecordingHandler(), RecordingPresenter())
            let agent = stage.agent(handler, presenter)
            let events = agent.events
            try await whileRunning(agent) {
                let kept = try await stage.send(Self.dinner)
                await self.happens(.presented, in: events)
                withExtendedLifetime(kept) {}
            }
            #expect(try #require(await presenter.next()).respond(.opened(.open)))
            #expect(try await stage.runtime.ledger().waiting == 1)
            try await whileRunning(agent) {
                let kept = try await stage.connect()
                #expect(await handler.next(1).map(\.context.isUserOpened) == [true])
                withExtendedLifetime(kept) {}
            }
        }
    }

    @Test func aRunThatEndsDoesNotPresentAgainWhatIsStillShown() async throws {
        try await self.withStage { stage in
            let presented = Locked<[Int64]>([])
            let presenter = RecordingPresenter { request in
                presented.withLock { $0.append(request.key.messageID) }
                return .presented
            }
            let handler = RecordingHandler()
            let agent = stage.agent(handler, presenter)
            let events = agent.events
            try await whileRunning(agent) {
                let kept = try await stage.send(Self.dinner)
                await self.happens(.presented, in: events)
                withExtendedLifetime(kept) {}
            }
            try await whileRunning(agent) {
                let kept = try await stage.send(#"{"n":2}"#)
                #expect(await handler.next(1).map(\.context.messageID) == [2])
                withExtendedLifetime(kept) {}
            }
            #expect(presented.withLock { $0 } == [1])
        }
    }

    @Test func anOpeningThatTheProcessDidNotFinishIsToldByTheNextOne() async throws {
        try await self.withStage(shutdownGrace: .zero) { stage in
            let (handler, presenter) = (HoldingHandler(), RecordingPresenter())
            let agent = stage.agent(handler, presenter)
            let events = agent.events
            try await whileRunning(agent) {
                let kept = try await stage.send(Self.dinner)
                await self.happens(.presented, in: events)
                #expect(try #require(await presenter.next()).respond(.opened(.custom("reply"))))
                for await _ in handler.called { break }
                withExtendedLifetime(kept) {}
            }
            let next = try await stage.nextRuntime()
            let second = RecordingHandler()
            try await whileRunning(stage.agent(second, RecordingPresenter(), on: next)) {
                let kept = try await stage.connect()
                #expect(await second.next(1).map(\.context.userAction) == [.custom("reply")])
                withExtendedLifetime(kept) {}
            }
            #expect(try await next.ledger() == MessageLedger(received: 1, done: 1))
            await next.shutdown()
        }
    }
}

final class HoldingHandler: RemoteNotificationHandler {
    let called: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation
    private let kept = Locked<[FetchCompletion]>([])

    init() { (self.called, self.continuation) = AsyncStream.makeStream() }

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        self.kept.withLock { $0.append(completion) }
        self.continuation.yield()
    }
}
