import KiiPushCommandLine
import KiiPushCore

enum ListenEnding: Sendable {
    case stopped
    case signal(Int32)
    case counted
    case timedOut
    /// The time limit passed before the first connection.
    case neverConnected
    /// The emulator was restarted at another address.
    case moved
    case failed(any Error)
}

struct Listening: Sendable {
    let agent: PushAgent
    let view: ListenView
    let timeout: Duration?
    let emulator: EmulatorWatch?

    func run() async throws -> ListenEnding {
        let signals = try StopSignals.ofCommand()
        self.agent.observe { [view = self.view] in view.observe($0) }
        return await withTaskGroup(of: ListenEnding?.self) { group in
            group.addTask {
                defer { self.view.finish() }
                return await self.untilEnding(signals)
            }
            group.addTask {
                // Shows stored messages after 5 s even without a connection. Connecting may take longer than a
                // message's time limit.
                try? await Task.sleep(for: .seconds(5))
                await self.view.open()
                return nil
            }
            await self.view.showQueued()
            defer { group.cancelAll() }
            while let ending = await group.next() { if let ending { return ending } }
            return .stopped
        }
    }

    private func untilEnding(_ signals: StopSignals) async -> ListenEnding {
        await withTaskGroup(of: ListenEnding?.self) { group in
            group.addTask {
                do {
                    try await self.agent.run()
                    return .stopped
                } catch {
                    return .failed(error)
                }
            }
            group.addTask {
                guard let number = await signals.next() else { return nil }
                self.view.showWaiting()
                return .signal(number)
            }
            group.addTask { await self.view.ending() }
            if let emulator = self.emulator {
                group.addTask { await emulator.moved { self.view.lastTrouble != nil } ? .moved : nil }
            }
            if let timeout = self.timeout {
                group.addTask { await self.timeLimit(timeout) }
            }
            var ending: ListenEnding?
            for await result in group {
                guard let result else { continue }
                // The first reason to end counts, unless stopping causes an error.
                if ending == nil { ending = result } else if case .failed = result { ending = result }
                group.cancelAll()
            }
            return ending ?? .stopped
        }
    }

    private func timeLimit(_ timeout: Duration) async -> ListenEnding? {
        let isConnected = await withTaskGroup(of: Bool?.self) { group in
            group.addTask { await self.view.connected() ? true : nil }
            group.addTask { (try? await Task.sleep(for: timeout)).map { false } }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
        guard isConnected == true else { return isConnected.map { _ in .neverConnected } }
        return (try? await Task.sleep(for: timeout)).map { .timedOut }
    }
}
