import KiiPushCore
import TestSupport
import Testing

extension PresentationTests {
    @Test func whatReachesNobodyIsDoneAndTold() async throws {
        try await self.withStage { stage in
            let agent = stage.agent(RecordingHandler(), RecordingPresenter())
            let events = agent.events
            var badges = agent.badges.makeAsyncIterator()
            #expect(await badges.next() == .some(nil))
            try await whileRunning(agent) {
                let kept = try await stage.send(#"{"aps":{"badge":3}}"#)
                await self.happens(.unreached(attempt: 1), in: events)
                #expect(try await stage.runtime.ledger() == MessageLedger(received: 1, done: 1))
                withExtendedLifetime(kept) {}
            }
            #expect(await badges.next() == 3)
            #expect(agent.badge == 3)
            // The badge outlives a restart.
            let runtime = try await stage.nextRuntime()
            let next = stage.agent(RecordingHandler(), nil, on: runtime)
            #expect(next.badge == 3)
            next.setBadge(0)
            #expect(next.badge == nil)
            await runtime.shutdown()
        }
    }

    @Test func aBadgeThatIsSetJustBeforeTheEndIsKept() async throws {
        try await self.withStage { stage in
            let agent = stage.agent(RecordingHandler(), nil)
            agent.setBadge(1)
            // The first badge is written at once, and the next badge a second later.
            for _ in 1...10 { try await stage.runtime.loop.run {} }
            agent.setBadge(2)
            let runtime = try await stage.nextRuntime()
            let next = stage.agent(RecordingHandler(), nil, on: runtime)
            #expect(next.badge == 2)
            await runtime.shutdown()
            next.setBadge(3)
            let last = try await stage.nextRuntime()
            #expect(stage.agent(RecordingHandler(), nil, on: last).badge == 3)
            await last.shutdown()
        }
    }

    @Test func aMessageThatTheNextProcessHandlesSetsTheBadgeNotOnceMore() async throws {
        try await self.withStage(shutdownGrace: .zero) { stage in
            let handler = HoldingHandler()
            let agent = stage.agent(handler, nil)
            try await whileRunning(agent) {
                let kept = try await stage.send(Self.dinner)
                for await _ in handler.called { break }
                #expect(agent.badge == 2)
                // The program clears the badge, because the user has seen the message.
                agent.setBadge(nil)
                withExtendedLifetime(kept) {}
            }
            let next = try await stage.nextRuntime()
            let second = RecordingHandler()
            let later = stage.agent(second, nil, on: next)
            try await whileRunning(later) {
                let kept = try await stage.connect()
                #expect(await second.next(1).map(\.context.attempt) == [1])
                withExtendedLifetime(kept) {}
            }
            #expect(later.badge == nil)
            await next.shutdown()
        }
    }

    @Test func theBadgeFollowsTheMessagesThatSayAnythingAboutIt() async throws {
        try await self.withStage { stage in
            let handler = RecordingHandler()
            let agent = stage.agent(handler, nil, AgentLifecycle())
            var badges = agent.badges.makeAsyncIterator()
            try await whileRunning(agent) {
                let kept = try await stage.send(
                    #"{"aps":{"badge":3}}"#, #"{"n":1}"#, #"{"aps":{"alert":"x"}}"#, #"{"aps":{"badge":4}}"#,
                    #"{"aps":{"badge":0}}"#)
                _ = await handler.next(5)
                withExtendedLifetime(kept) {}
            }
            for expected in [nil, 3, nil, 4, nil] as [Int?] { #expect(await badges.next() == .some(expected)) }
        }
    }
}
