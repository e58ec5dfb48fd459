import Testing

@testable import KiiPushCore

@Suite struct HandlerFormTests {
    private struct Failure: Error {}

    private final class Everything: RemoteNotificationHandler, AsyncRemoteNotificationHandler {
        let called = Journal<String>()

        func didReceiveRemoteNotification(
            _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
        ) {
            self.called.add("completion")
            completion(.newData)
        }

        func didReceiveRemoteNotification(
            _ message: ReceivedMessage, context: DeliveryContext
        ) async throws -> FetchResult {
            self.called.add("async")
            return .newData
        }
    }

    @Test func theCompletionFormGoesBeforeTheAsynchronousOne() async throws {
        let handler = Everything()
        let fixture = try await DeliveryFixture(handler)
        fixture.deliver([.push(1)])
        await fixture.store.changes.first(1)
        #expect(handler.called.entries == ["completion"])
    }

    @Test func theDeprecatedFormMeansNewData() async throws {
        let called = Journal<String>()
        let fixture = try await DeliveryFixture(deprecatedHandler(called))
        fixture.deliver([.push(1)])
        #expect(await fixture.store.changes.first(1).map(\.verdict) == [.done(.newData)])
        #expect(called.entries == ["plain"])
    }

    @Test(arguments: [true, false])
    func everyOtherFormGoesBeforeTheDeprecatedOne(isAsync: Bool) async throws {
        let called = Journal<String>()
        let fixture = try await DeliveryFixture(deprecatedHandler(called, besides: isAsync ? "async" : "completion"))
        fixture.deliver([.push(1)])
        await fixture.store.changes.first(1)
        #expect(called.entries == [isAsync ? "async" : "completion"])
    }

    @Test func aHandlerWithoutAFormFailsAndSaysSo() async throws {
        struct Nothing: NotificationHandler {}
        let fixture = try await DeliveryFixture(Nothing())
        fixture.deliver([.push(1)])
        let verdict = await fixture.store.changes.first(1).first?.verdict
        guard case .retry(_, .threw(let text), _) = verdict else {
            Issue.record("\(String(describing: verdict))")
            return
        }
        #expect(text.contains("conform"))
    }

    @Test(arguments: FetchResult.allCases)
    func anAsynchronousHandlersResultIsTheAnswer(result: FetchResult) async throws {
        let fixture = try await DeliveryFixture(
            AsyncClosureHandler { _, _ in
                await Task.yield()
                return result
            })
        fixture.deliver([.push(1)])
        let expected: MessageChange.Verdict = result == .failed ? .again(after: 1, .failed) : .done(result)
        #expect(await fixture.store.changes.first(1).map(\.verdict) == [expected])
    }

    @Test(arguments: [true, false])
    func throwingIsAFailureWithItsError(suspends: Bool) async throws {
        let fixture = try await DeliveryFixture(
            AsyncClosureHandler { _, _ in
                if suspends { await Task.yield() }
                throw Failure()
            })
        fixture.deliver([.push(1)])
        #expect(await fixture.store.changes.first(1).map(\.verdict) == [.again(after: 1, .threw("Failure()"))])
    }

    @Test func oneAfterTheOtherWhetherTheySuspendOrNot() async throws {
        let seen = Journal<Int64>()
        let fixture = try await DeliveryFixture(
            AsyncClosureHandler { _, context in
                if context.messageID % 3 == 0 { await Task.yield() }
                seen.add(context.messageID)
                return .newData
            })
        fixture.deliver((1...300).map { .push($0) })
        #expect(await seen.first(300) == Array(1...300))
        await fixture.store.changes.first(300)
    }

    @Test func theTaskIsCancelledAtTheDeadlineAndTheRetryWaitsForItsEnd() async throws {
        let events = Journal<String>()
        let gate = Journal<Int>()
        let fixture = try await DeliveryFixture(
            AsyncClosureHandler { _, context in
                events.add("start \(context.attempt)")
                guard context.attempt == 1 else { return .newData }
                _ = await withTaskCancellationHandler {
                    await gate.first(1)
                } onCancel: {
                    events.add("cancelled")
                }
                events.add("end")
                try Task.checkCancellation()
                return .failed
            })
        fixture.deliver([.push(1)])
        await events.first(1)
        await fixture.advance(.seconds(30))
        await events.first(2)
        await fixture.advance(.seconds(2))
        #expect(await fixture.store.changes.first(1).map(\.verdict) == [.again(after: 1, .timedOut)])
        gate.add(1)
        #expect(await events.first(4) == ["start 1", "cancelled", "end", "start 2"])
        #expect(await fixture.store.changes.first(2).last?.verdict == .done(.newData))
    }

    @Test func anAsynchronousLateSuccessCounts() async throws {
        let gate = Journal<Int>()
        let started = Journal<Int>()
        let fixture = try await DeliveryFixture(
            AsyncClosureHandler { _, context in
                started.add(context.attempt)
                await gate.first(1)
                return .newData
            })
        fixture.deliver([.push(1)])
        await started.first(1)
        await fixture.advance(.seconds(30))
        await fixture.store.changes.first(1)
        gate.add(1)
        #expect(await fixture.store.changes.first(2).last?.verdict == .done(.newData))
        await fixture.advance(.seconds(1))
        #expect(started.entries == [1])
    }
}

/// Creates a handler of the deprecated form without naming the form in code that is not deprecated. So the test behaves
/// like an old program, but compiles without a warning.
func deprecatedHandler(_ called: Journal<String>, besides form: String? = nil) -> any NotificationHandler {
    let maker: any HandlerMaker = DeprecatedMaker()
    return maker.make(called, form)
}

private protocol HandlerMaker {
    func make(_ called: Journal<String>, _ form: String?) -> any NotificationHandler
}

private struct DeprecatedMaker: HandlerMaker {
    @available(*, deprecated)
    func make(_ called: Journal<String>, _ form: String?) -> any NotificationHandler {
        switch form {
        case "async": AsyncAndPlain(called: called)
        case "completion": CompletionAndPlain(called: called)
        default: Plain(called: called)
        }
    }
}

@available(*, deprecated)
private struct Plain: PlainRemoteNotificationHandler {
    let called: Journal<String>

    func didReceiveRemoteNotification(_ message: ReceivedMessage) { self.called.add("plain") }
}

@available(*, deprecated)
private struct AsyncAndPlain: PlainRemoteNotificationHandler, AsyncRemoteNotificationHandler {
    let called: Journal<String>

    func didReceiveRemoteNotification(_ message: ReceivedMessage) { self.called.add("plain") }

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext
    ) async throws -> FetchResult {
        self.called.add("async")
        return .newData
    }
}

@available(*, deprecated)
private struct CompletionAndPlain: PlainRemoteNotificationHandler, RemoteNotificationHandler {
    let called: Journal<String>

    func didReceiveRemoteNotification(_ message: ReceivedMessage) { self.called.add("plain") }

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        self.called.add("completion")
        completion(.newData)
    }
}
