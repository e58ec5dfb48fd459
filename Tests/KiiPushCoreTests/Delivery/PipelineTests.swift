import Foundation
import Testing

@testable import KiiPushCore

@Suite struct PipelineTests {
    @Test func handsOverMessageAndContext() async throws {
        let seen = Journal<DeliveryContext>()
        let fixture = try await DeliveryFixture(
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
        await fixture.store.changes.first(1)
        #expect(fixture.store.standing(7) == .done)
    }

    @Test func startsMessagesOfASourceInOrderWhateverThreadsThereAre() async throws {
        let seen = Journal<[Int64]>()
        let fixture = try await DeliveryFixture(
            ClosureHandler { message, context, completion in
                seen.add([Int64(message.value(of: .topic) ?? "") ?? -1, context.messageID])
                completion(.newData)
            })
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
        await fixture.settle()
        #expect(try await fixture.memoryWeight == 0)
    }

    @Test func answersFromEverywhereReachEveryMessageOnce() async throws {
        let seen = Journal<Int64>()
        let counted = Journal<Bool>()
        let fixture = try await DeliveryFixture(
            ClosureHandler { _, context, completion in
                seen.add(context.messageID)
                switch context.messageID % 5 {
                case 0: DispatchQueue.global().async { counted.add(completion(.newData)) }
                case 1: Task { counted.add(completion(.newData)) }
                case 2:
                    Task { counted.add(completion(.noData)) }
                    counted.add(completion(.newData))
                default: counted.add(completion(.newData))
                }
            })
        fixture.deliver((1...3000).map { .push($0, source: "\($0 % 3)") })
        let changes = await fixture.store.changes.first(3000)
        #expect(Set(changes.map(\.sequence)).count == 3000)
        #expect(changes.allSatisfy { $0.attempts == 1 })
        let answers = await counted.first(3600)
        #expect(answers.count { $0 } == 3000)
        #expect(seen.entries.count == 3000)
    }

    @Test func runsFourHandlersAtOnceAndSlowOnesDelayNoOther() async throws {
        let started = Journal<Int64>()
        let release = DispatchSemaphore(value: 0)
        let fixture = try await DeliveryFixture(
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

    private static let push = #"{"topic":"a","objectScopeType":"APP","objectScopeAppID":"x"}"#

    @Test func whatIsReceivedReachesItsHandler() async throws {
        let seen = Journal<Int64>()
        let fixture = try await DeliveryFixture(
            ClosureHandler { _, context, completion in
                seen.add(context.messageID)
                completion(.newData)
            })
        await fixture.settle()
        for _ in 1...3 { fixture.receive(Self.push) }
        #expect(await seen.first(3) == [1, 2, 3])
        let verdicts = await fixture.store.changes.first(3).map(\.verdict)
        #expect(verdicts == [.done(.newData), .done(.newData), .done(.newData)])
    }

    @Test func whatNoHandlerIsToSeeIsADeadLetterAndNobodyIsCalled() async throws {
        let fixture = try await DeliveryFixture(ClosureHandler { _, _, _ in Issue.record("called") })
        await fixture.settle()
        fixture.receive(Self.push, topic: "another")
        fixture.receive(Self.push, originalLength: 300_000)
        fixture.receive("{not json")
        fixture.receive(#"{"commandID":"c","actions":[{"a":{}}]}"#)
        let events = await fixture.listener.events.first(5).map(\.kind)
        #expect(events.first == .dead(.unexpectedTopic, attempt: nil))
        #expect(events.dropFirst().first == .dead(.oversized(originalLength: 300_000), attempt: nil))
        guard case .dead(.undecodable(let text), attempt: nil) = events[2] else {
            Issue.record("\(events[2])")
            return
        }
        #expect(text.contains("JSON") || text.contains("payload"))
        #expect(!text.contains("not json"))
        // A command is received before its handler is chosen, because only some handlers take commands.
        #expect(events[3...] == [.received, .dead(.command, attempt: nil)])
        #expect(await fixture.store.changes.first(1) == [.change(4, .dead(.command))])
        #expect((1...4).map { fixture.store.standing($0) } == [.dead, .dead, .dead, .dead])
    }

    @Test func commandsGoToTheCommandHandler() async throws {
        let handler = CommandHandler()
        let fixture = try await DeliveryFixture(handler)
        fixture.deliver([.command(1, id: "c9")])
        #expect(await handler.seen.first(1) == ["c9"])
        #expect(await fixture.store.changes.first(1).map(\.verdict) == [.done(.newData)])
    }

    @Test func routesDecide() async throws {
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
        let fixture = try await DeliveryFixture(receiver)
        fixture.deliver((1...6).map { .push($0) })
        let changes = await fixture.store.changes.first(6)
        #expect(
            changes.map(\.verdict) == [
                .done(.newData), .done(.noData), .presented, .dead(.rejected("opened")), .done(.newData),
                .done(.newData),
            ])
        #expect(changes.map(\.sequence) == Array(1...6))
        #expect(invoked.entries == [4])
    }

    @Test func tellsAnObserverInOrder() async throws {
        let fixture = try await DeliveryFixture(
            ClosureHandler { _, context, completion in completion(context.attempt == 1 ? .failed : .noData) })
        fixture.deliver([.push(1)])
        let kinds = await fixture.listener.events.first(3).map(\.kind)
        #expect(kinds == [.received, .started(attempt: 1), .failed(attempt: 1, .failed, retryAfter: .seconds(1))])
        await fixture.store.changes.first(1)
        await fixture.advance(.seconds(1))
        #expect(
            await fixture.listener.events.first(5).dropFirst(3).map(\.kind) == [
                .started(attempt: 2), .done(.noData, attempt: 2, isLate: false),
            ])
    }

    @Test func whatUsersDoReachesTheMessageOnItsWay() async throws {
        let seen = Journal<String>()
        let receiver = TestReceiver(
            handler: ClosureHandler { _, context, completion in
                seen.add(context.userAction?.identifier ?? "none")
                completion(.newData)
            }
        ) { _, context in context.userAction == nil ? .show({ true }, isForHandler: false) : .handler }
        let fixture = try await DeliveryFixture(receiver)
        let reacted = fixture.loop.reactions(in: fixture.pipeline)
        fixture.deliver([.push(1)])
        #expect(await fixture.store.changes.first(1).map(\.verdict) == [.presented])
        #expect(reacted(.opened(.push(1), by: .custom("reply")), 1, 1))
        #expect(await seen.first(1) == ["reply"])
        #expect(await fixture.store.changes.first(3).last?.verdict == .done(.newData))
        fixture.end()
        #expect(!reacted(.dismissed, 1, 1))
    }
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
