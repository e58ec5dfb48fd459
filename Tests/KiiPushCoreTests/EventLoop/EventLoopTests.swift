import Foundation
import KiiPushCore
import SeededNumbers
import Synchronization
import TestSupport
import Testing

@Suite struct EventLoopTests {
    let loop: EventLoop

    init() throws { self.loop = try EventLoop.patient() }

    @Test func runsCommandsInOrderOnItsOwnThread() async throws {
        let seen = Locked<[Int]>([])
        let onLoop = Locked<[Bool]>([])
        for number in 0..<1000 {
            self.loop.submit { [loop = self.loop] in
                seen.withLock { $0.append(number) }
                onLoop.withLock { $0.append(loop.isCurrent) }
            }
        }
        try await self.loop.run {}
        #expect(seen.withLock { $0 } == Array(0..<1000))
        #expect(onLoop.withLock { $0 }.allSatisfy { $0 })
        #expect(!self.loop.isCurrent)
    }

    @Test func wakesForCommandsOfManyThreadsAndKeepsEachThreadsOrder() async throws {
        let seen = Locked<[Int: [Int]]>([:])
        let loop = self.loop
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<8 {
                group.addTask {
                    for number in 0..<2000 {
                        loop.submit { seen.withLock { $0[thread, default: []].append(number) } }
                        // Waits sometimes, so that the loop goes to sleep in between.
                        if number % 200 == 0 { _ = try? await loop.run {} }
                    }
                }
            }
        }
        try await self.loop.run {}
        #expect(seen.withLock { $0 } == Dictionary(uniqueKeysWithValues: (0..<8).map { ($0, Array(0..<2000)) }))
    }

    @Test func runsACommandFromItsOwnThreadInTheNextTurn() async throws {
        let log = Locked<[String]>([])
        let turn = try await self.loop.run { [loop = self.loop] in
            let turn = TurnLog(log)
            loop.setTurnDelegate(turn)
            loop.submit { log.withLock { $0.append("command") } }
            return LoopIsolated(confining: turn, to: loop)
        }
        try await self.loop.run { [loop = self.loop] in
            _ = turn.value
            loop.setTurnDelegate(nil)
        }
        #expect(log.withLock { $0 }.prefix(3) == ["commit", "afterCommit", "command"])
    }

    @Test func firesTimersByDeadlineThenByAge() async throws {
        let fired = Locked<[Int]>([])
        let (done, finish) = AsyncStream.makeStream(of: Void.self)
        var random = SeededGenerator(seed: 7)
        let delays = (0..<500).map { _ in Int64(random.next() % 20) }
        try await self.loop.run { [loop = self.loop] in
            for (index, delay) in delays.enumerated() {
                let deadline = loop.now + .milliseconds(delay)
                loop.schedule(at: deadline) {
                    #expect(loop.now >= deadline)
                    fired.withLock { $0.append(index) }
                }
            }
            loop.schedule(at: loop.now + .milliseconds(21)) { finish.finish() }
        }
        for await _ in done {}
        let expected = delays.indices.sorted { (delays[$0], $0) < (delays[$1], $1) }
        #expect(fired.withLock { $0 } == expected)
    }

    @Test func neverFiresACancelledTimer() async throws {
        let fired = Locked<[Int]>([])
        let (done, finish) = AsyncStream.makeStream(of: Void.self)
        try await self.loop.run { [loop = self.loop] in
            // So many timers that the heap is rebuilt.
            let timers = (0..<300).map { index in
                loop.schedule(at: loop.now + .milliseconds(300 - index)) { fired.withLock { $0.append(index) } }
            }
            for (index, timer) in timers.enumerated() where index != 150 && index != 295 {
                loop.cancel(timer)
                loop.cancel(timer)
            }
            loop.schedule(at: loop.now + .milliseconds(160)) { finish.finish() }
        }
        for await _ in done {}
        #expect(fired.withLock { $0 } == [295, 150])
    }

    @Test func aTimerForThePastThatReschedulesItselfDoesNotHoldUpTheTurn() async throws {
        let count = Locked(0)
        try await self.loop.run { [loop = self.loop] in repeatForever(on: loop, count) }
        let server = try LoopbackServer.http { _ in response("ok") }
        defer { server.stop() }
        let answer = try await self.loop.perform(HTTPRequest.patient(method: "GET", url: server.url))
        #expect(answer.status == 200)
        #expect(count.withLock { $0 } > 1)
        // The timer would otherwise run during all other tests.
        self.loop.shutdown()
    }

    @Test func shutdownRunsWhatIsQueuedAndRefusesWhatComesAfter() async throws {
        let log = Locked<[String]>([])
        let turn = try await self.loop.run { [loop = self.loop] in
            let turn = TurnLog(log)
            loop.setTurnDelegate(turn)
            return LoopIsolated(confining: turn, to: loop)
        }
        log.withLock { $0 = [] }
        #expect(self.loop.submit { log.withLock { $0.append("last") } })
        self.loop.shutdown()
        // Other turns may end before and after the command's turn.
        let entries = log.withLock { $0 }
        let last = try #require(entries.firstIndex(of: "last"))
        #expect(entries[(last + 1)...].starts(with: ["commit", "afterCommit"]))
        #expect(!self.loop.submit {})
        await #expect(throws: TransportError.self) { try await self.loop.run {} }
        await #expect(throws: TransportError.self) {
            try await self.loop.perform(HTTPRequest.patient(method: "GET", url: "http://127.0.0.1/"))
        }
        self.loop.shutdown()
        _ = turn
    }

    @Test func shutdownMayComeFromSeveralThreadsAndFromTheLoopItself() async throws {
        let loop = self.loop
        let reachedEnd = Locked(0)
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<6 {
                group.addTask {
                    if index == 3 { loop.submit { loop.shutdown() } }
                    loop.shutdown()
                    reachedEnd.withLock { $0 += 1 }
                }
            }
        }
        #expect(reachedEnd.withLock { $0 } == 6)
        #expect(!loop.submit {})
    }

    @Test func lettingGoOfALoopEndsIt() async throws {
        let (freed, finish) = AsyncStream.makeStream(of: Void.self)
        do {
            let loop = try EventLoop.patient()
            try await loop.run {
                let canary = Canary {
                    finish.yield()
                    finish.finish()
                }
                loop.schedule(at: loop.now + .seconds(3600)) { withExtendedLifetime(canary) {} }
            }
        }
        #expect(await freed.reduce(0) { count, _ in count + 1 } == 1)
    }

    @Test func aLoopMayBeLetGoOfOnItsOwnThread() async throws {
        let (freed, finish) = AsyncStream.makeStream(of: Void.self)
        func start() throws {
            let loop = try EventLoop.patient()
            let canary = Canary {
                finish.yield()
                finish.finish()
            }
            loop.submit { withExtendedLifetime((loop, canary)) {} }
        }
        try start()
        #expect(await freed.reduce(0) { count, _ in count + 1 } == 1)
    }

    @Test(arguments: [
        "http://", "ftp://proxy:21", "http://user:hunter2@", "http://user:hunter2@proxy:port", "nonsense://hunter2",
    ])
    func refusesAProxyThatIsNone(_ proxy: String) {
        let error = #expect(throws: TransportError.self) {
            try EventLoop.patient(proxy: proxy)
        }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.description.contains("hunter2") == false)
    }

    @Test(arguments: [(0x07_43_00, false), (0x07_44_00, true), (0x07_58_01, true), (0x08_00_00, true)])
    func refusesALibcurlBefore7_68(versionNumber: UInt32, isAccepted: Bool) {
        switch CurlLibrary.checked(versionNumber: versionNumber, name: "7.x") {
        case .success: #expect(isAccepted)
        case .failure(let error):
            #expect(!isAccepted)
            #expect(error.code == .invalidConfiguration)
            #expect(error.detail == "libcurl 7.x is too old: 7.68.0 or later is needed")
        }
    }

    @Test func refusesACAFileThatIsNotThere() {
        let error = #expect(throws: TransportError.self) {
            try EventLoop(configuration: .init(tls: .init(caFile: "/nonexistent/ca.pem")))
        }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.description.contains("/nonexistent/ca.pem") == true)
    }
}

private func repeatForever(on loop: EventLoop, _ count: Locked<Int>) {
    count.withLock { $0 += 1 }
    loop.schedule(at: loop.now) { repeatForever(on: loop, count) }
}

final class TurnLog: TurnDelegate {
    private let log: Locked<[String]>
    private let onAfterCommit: () -> Void

    init(_ log: Locked<[String]>, onAfterCommit: @escaping () -> Void = {}) {
        self.log = log
        self.onAfterCommit = onAfterCommit
    }

    func commit() { self.log.withLock { $0.append("commit") } }

    func afterCommit() {
        self.log.withLock { $0.append("afterCommit") }
        self.onAfterCommit()
    }
}

private final class Canary: Sendable {
    private let onDeinit: @Sendable () -> Void
    init(_ onDeinit: @escaping @Sendable () -> Void) { self.onDeinit = onDeinit }
    deinit { self.onDeinit() }
}
