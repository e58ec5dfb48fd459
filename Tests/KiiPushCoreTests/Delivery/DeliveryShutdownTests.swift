import Foundation
import KiiPushCore
import Testing

@Suite struct DeliveryShutdownTests {
    /// How many threads of this process have this name.
    private func threadCount(_ name: String) -> Int {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return tasks.count { task in
            // A thread may end while its name is being read.
            (try? String(contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8)) == name + "\n"
        }
    }

    @Test func lettingGoOfTheRunnerLeavesNoThreadBehind() async {
        let name = "kd-letgo"
        var fixture: RunnerFixture? = RunnerFixture(ClosureHandler { _, _, completion in completion(.failed) }) {
            $0.threadName = name
        }
        fixture?.deliver((0..<100).map { .push($0, source: "\($0 % 10)") })
        await fixture?.store.changes.first(100)
        #expect(self.threadCount(name) >= 2)
        fixture = nil
        await self.waitUntilGone(name)
    }

    /// A thread that was in a handler is not waited for; it ends a moment after it has returned.
    private func waitUntilGone(_ name: String) async {
        while self.threadCount(name) > 0 { await Task.yield() }
    }

    @Test(.timeLimit(.minutes(1)))
    func aShutdownDoesNotWaitForAHandler() async {
        let name = "kd-busy"
        let started = Journal<Int>()
        let release = Locked(false)
        let fixture = RunnerFixture(
            ClosureHandler { _, _, completion in
                started.add(1)
                while !release.withLock({ $0 }) { sched_yield() }
                completion(.newData)
            }
        ) { $0.threadName = name }
        fixture.deliver([.push(1)])
        await started.first(1)
        fixture.runner.shutdown()
        fixture.runner.shutdown()
        #expect(self.threadCount(name) == 1)
        release.withLock { $0 = true }
        await self.waitUntilGone(name)
        #expect(fixture.store.changes.entries == [])
    }

    @Test(.timeLimit(.minutes(1)))
    func aHandlerMayShutItsOwnRunnerDown() async {
        let box = Locked<DeliveryRunner?>(nil)
        let done = Journal<Int>()
        let fixture = RunnerFixture(
            ClosureHandler { _, _, completion in
                box.withLock { $0 }?.shutdown()
                done.add(1)
            })
        box.withLock { [runner = fixture.runner] in $0 = runner }
        fixture.deliver([.push(1)])
        await done.first(1)
        box.withLock { $0 = nil }
    }

    @Test func drainingWaitsForWhatRunsAndGivesBackTheRest() async {
        let started = Journal<Int64>()
        let gate = Journal<Int>()
        let fixture = RunnerFixture(
            AsyncClosureHandler { _, context in
                started.add(context.messageID)
                await gate.first(1)
                return .newData
            })
        fixture.deliver((1...5).map { .push($0) })
        await started.first(1)
        async let isDrained = fixture.runner.drain(until: fixture.clock.now + .seconds(10))
        #expect(await fixture.store.changes.first(4) == (2...5).map { .change($0, .waiting) })
        // What comes now waits in the store.
        #expect(fixture.runner.reserve(1, installation: 1) == 0)
        fixture.deliver([.push(6)])
        #expect(await fixture.store.changes.first(5).last == .change(6, .waiting))
        gate.add(1)
        #expect(await isDrained)
        #expect(fixture.store.changes.entries.last == .change(1, .done(.newData), attempts: 1))
        #expect(started.entries == [1])
    }

    @Test func drainingEndsAtItsDeadline() async {
        let started = Journal<Int>()
        let gate = Journal<Int>()
        let fixture = RunnerFixture(
            AsyncClosureHandler { _, _ in
                started.add(1)
                await gate.first(1)
                return .newData
            })
        fixture.deliver([.push(1)])
        await started.first(1)
        let draining = Journal<Int>()
        async let isDrained = {
            draining.add(1)
            return await fixture.runner.drain(until: fixture.clock.now + .seconds(10))
        }()
        await draining.first(1)
        while fixture.runner.reserve(1, installation: 1) > 0 {
            fixture.runner.release(1)
            await Task.yield()
        }
        fixture.clock.advance(.seconds(11), fixture.runner)
        #expect(await !isDrained)
        // It stays in hand: nothing was said about it.
        #expect(fixture.store.changes.entries == [])
        gate.add(1)
    }

    @Test func anIdleRunnerDrainsAtOnce() async {
        let fixture = RunnerFixture(ClosureHandler { _, _, _ in })
        // The clock stands still, so only being idle can end this.
        #expect(await fixture.runner.drain(until: fixture.clock.now + .seconds(1)))
    }
}
