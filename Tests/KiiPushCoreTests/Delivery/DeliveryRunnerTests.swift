import Foundation
import KiiPushCore
import Testing

@Suite struct DeliveryRunnerTests {
    @Test func handsOverMessageAndContext() async throws {
        let seen = Journal<DeliveryContext>()
        let fixture = RunnerFixture(
            ClosureHandler { message, context, completion in
                #expect(message.kind == .pushToUser)
                seen.add(context)
                completion(.newData)
            })
        fixture.deliver([.push(7)])
        let context = try #require(await seen.first(1).first)
        #expect(context.installationID == "installation-1")
        #expect(context.messageID == 7)
        #expect(context.receivedAt == .at(5))
        #expect(context.attempt == 1)
        #expect(!context.isUserOpened)
        #expect(context.deadlineInstant == .seconds(1030))
    }

    @Test func startsMessagesOfASourceInOrderWhateverThreadsThereAre() async {
        let seen = Journal<[Int64]>()
        let fixture = RunnerFixture(
            ClosureHandler { message, context, completion in
                seen.add([Int64(message.value(of: .topic) ?? "") ?? -1, context.messageID])
                completion(.newData)
            }
        ) { $0.messagesInMemory = 100_000 }
        for base in stride(from: Int64(0), to: 4000, by: 100) {
            fixture.deliver((0..<100).map { .push(base + $0 + 1, source: "\($0 % 7)") })
        }
        let entries = await seen.first(4000)
        for source in Int64(0)..<7 {
            let order = entries.filter { $0[0] == source }.map { $0[1] }
            #expect(order.count > 500)
            #expect(order == order.sorted())
        }
        await fixture.store.changes.first(4000)
        #expect(Set(fixture.store.changes.entries.map(\.sequence)).count == 4000)
        #expect(fixture.runner.memoryWeight == 0)
    }

    @Test func answersFromEverywhereReachEveryMessageOnce() async {
        let seen = Journal<Int64>()
        let counted = Journal<Bool>()
        let fixture = RunnerFixture(
            ClosureHandler { _, context, completion in
                seen.add(context.messageID)
                switch context.messageID % 5 {
                case 0: DispatchQueue.global().async { counted.add(completion(.newData)) }
                case 1: Task { counted.add(completion(.newData)) }
                case 2:
                    // One of the two counts, whichever comes first.
                    Task { counted.add(completion(.noData)) }
                    counted.add(completion(.newData))
                default: counted.add(completion(.newData))
                }
            }
        ) { $0.messagesInMemory = 100_000 }
        fixture.deliver((1...3000).map { .push($0, source: "\($0 % 3)") })
        let changes = await fixture.store.changes.first(3000)
        #expect(Set(changes.map(\.sequence)).count == 3000)
        #expect(changes.allSatisfy { $0.attempts == 1 })
        let answers = await counted.first(3600)
        #expect(answers.count { $0 } == 3000)
        #expect(seen.entries.count == 3000)
    }

    @Test func runsFourHandlersAtOnceAndSlowOnesDelayNoOther() async {
        let started = Journal<Int64>()
        let release = DispatchSemaphore(value: 0)
        let fixture = RunnerFixture(
            ClosureHandler { message, context, completion in
                started.add(context.messageID)
                if context.messageID < 10 {
                    release.wait()
                    release.signal()
                }
                completion(.newData)
            })
        fixture.deliver([.push(1, source: "a"), .push(2, source: "b"), .push(3, source: "c")])
        await started.first(3)
        fixture.deliver((10..<30).map { .push($0, source: "d") })
        let last = await started.first(23).last
        #expect(last == 29)
        release.signal()
        await fixture.store.changes.first(23)
    }

    @Test(arguments: [
        (StoredMessage.push(1).with { $0.isUnexpectedTopic = true }, DeadLetterReason.unexpectedTopic),
        (.push(1).with { $0.originalLength = 300_000 }, .oversized(originalLength: 300_000)),
        (.push(1).with { $0.payload = [UInt8](#"{"commandID":"c","actions":[{"a":{}}]}"#.utf8) }, .command),
    ])
    func whatNoHandlerIsToSeeIsADeadLetter(message: StoredMessage, reason: DeadLetterReason) async {
        let fixture = RunnerFixture(ClosureHandler { _, _, _ in Issue.record("called") })
        fixture.deliver([message])
        #expect(await fixture.store.changes.first(1) == [.change(1, .dead(reason))])
    }

    @Test func undecodableBytesAreADeadLetterWithTheError() async {
        let fixture = RunnerFixture(ClosureHandler { _, _, _ in Issue.record("called") })
        fixture.deliver([.push(1).with { $0.payload = [UInt8]("{not json".utf8) }])
        let verdict = await fixture.store.changes.first(1).first?.verdict
        guard case .dead(.undecodable(let text)) = verdict else {
            Issue.record("\(String(describing: verdict))")
            return
        }
        #expect(text.contains("JSON") || text.contains("payload"))
        #expect(!text.contains("not json"))
    }

    @Test func commandsGoToTheCommandHandler() async {
        let handler = CommandHandler()
        let fixture = RunnerFixture(handler)
        fixture.deliver([.push(1).with { $0.payload = [UInt8](#"{"commandID":"c9","actions":[{"a":{}}]}"#.utf8) }])
        #expect(await handler.seen.first(1) == ["c9"])
        #expect(await fixture.store.changes.first(1).map(\.verdict) == [.done(.newData)])
    }

    @Test func routesDecide() async {
        let invoked = Journal<Int64>()
        let receiver = TestReceiver(handler: ClosureHandler { _, _, completion in completion(.newData) }) {
            _, context in
            switch context.messageID {
            case 1: .handler
            case 2: .nobody
            case 3: .show({ true }, isForHandler: false)
            case 5: .show({ true }, isForHandler: true)
            case 6: .show({ false }, isForHandler: false)
            default:
                .invoke { completion in
                    invoked.add(context.messageID)
                    completion.reject("opened")
                }
            }
        }
        let fixture = RunnerFixture(receiver)
        fixture.deliver((1...6).map { .push($0) })
        let changes = await fixture.store.changes.first(6)
        #expect(
            changes.map(\.verdict) == [
                .done(.newData), .done(.noData), .presented, .dead(.rejected("opened")), .done(.newData),
                .done(.newData),
            ])
        #expect(invoked.entries == [4])
    }

    @Test func tellsAnObserverInOrder() async {
        let observer = JournalObserver()
        let fixture = RunnerFixture(
            ClosureHandler { _, context, completion in completion(context.attempt == 1 ? .failed : .noData) },
            observer: observer)
        fixture.deliver([.push(1)])
        await observer.events.first(3)
        fixture.clock.advance(.seconds(1), fixture.runner)
        #expect(
            await observer.events.first(5).map(\.kind) == [
                .received, .started(attempt: 1), .retry(attempt: 1, failure: .failed, after: .seconds(1)),
                .started(attempt: 2), .answered(.noData, attempt: 2),
            ])
    }

    @Test func suspectsAreReadBackAndRunWithTheAttemptDurableFirst() async {
        let store = RecoveringStore((1...2).map { StoredMessage.push($0).with { $0.wasInHand = true } })
        let order = store.order
        let runner = DeliveryRunner(store: store)
        runner.attach(
            installation: 1, id: "i",
            receiver: TestReceiver(
                handler: ClosureHandler { _, context, completion in
                    order.add("run \(context.messageID)")
                    completion(.newData)
                }))
        #expect(
            await order.first(6) == [
                "inHand 1 1", "run 1", "done 1 0", "inHand 2 1", "run 2", "done 2 0",
            ])
        runner.shutdown()
    }
}

/// A store that has found messages in hand, and writes down what is durable when.
final class RecoveringStore: DeliveryStore {
    let order = Journal<String>()
    private let suspects: [StoredMessage]

    init(_ suspects: [StoredMessage]) { self.suspects = suspects }

    func record(_ changes: [DeliveryChange]) {
        for change in changes {
            let word = change.verdict == .inHand ? "inHand" : "done"
            self.order.add("\(word) \(change.sequence) \(change.crashes)")
        }
    }

    func record(_ changes: [DeliveryChange], thenDurably committed: @escaping @Sendable () -> Void) {
        self.record(changes)
        committed()
    }

    func load(_ request: DeliveryLoad, deliver: @escaping @Sendable (DeliveryPage) -> Void) {
        let isFirst = request.kind == .suspects(after: 0)
        deliver(DeliveryPage(messages: isFirst ? self.suspects : [], isComplete: true))
    }
}

final class JournalObserver: DeliveryObserver {
    let events = Journal<DeliveryEvent>()

    func deliveryHappened(_ events: [DeliveryEvent]) { for event in events { self.events.add(event) } }
}

final class CommandHandler: RemoteNotificationHandler, ThingCommandHandler {
    let seen = Journal<String>()

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) { completion(.noData) }

    func didReceiveThingCommand(
        _ command: ThingCommand, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        self.seen.add(command.commandID)
        completion(.newData)
    }
}

extension StoredMessage {
    func with(_ change: (inout StoredMessage) -> Void) -> StoredMessage {
        var message = self
        change(&message)
        return message
    }
}
