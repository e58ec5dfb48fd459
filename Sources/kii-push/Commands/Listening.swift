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

extension ListenView {
    /// Runs `agent`, whose handler is this view, and shows its messages.
    ///
    /// - Parameter emulatorFile: the path of `emulator.json`.
    func listen(
        as agent: PushAgent, at cloud: CloudSettings, emulatorFile: String, timeout: Duration?
    ) async throws -> ListenEnding {
        let signals = try StopSignals.ofCommand()
        agent.observe { self.observe($0) }
        return await withTaskGroup(of: ListenEnding?.self) { group in
            group.addTask {
                defer { self.finish() }
                return await self.untilEnding(agent, at: cloud, emulatorFile, timeout, signals)
            }
            group.addTask {
                // Shows stored messages after 5 s even without a connection. Connecting may take longer than a
                // message's time limit.
                try? await Task.sleep(for: .seconds(5))
                await self.open()
                return nil
            }
            await self.showQueued()
            defer { group.cancelAll() }
            while let ending = await group.next() { if let ending { return ending } }
            return .stopped
        }
    }

    private func untilEnding(
        _ agent: PushAgent, at cloud: CloudSettings, _ emulatorFile: String, _ timeout: Duration?,
        _ signals: StopSignals
    ) async -> ListenEnding {
        await withTaskGroup(of: ListenEnding?.self) { group in
            group.addTask {
                do {
                    try await agent.run()
                    return .stopped
                } catch {
                    return .failed(error)
                }
            }
            group.addTask {
                guard let number = await signals.next() else { return nil }
                self.showWaiting()
                return .signal(number)
            }
            group.addTask { await self.ending() }
            group.addTask {
                await cloud.emulatorMoves(in: emulatorFile) { self.lastTrouble != nil } ? .moved : nil
            }
            if let timeout {
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
            group.addTask { await self.connected() ? true : nil }
            group.addTask { (try? await Task.sleep(for: timeout)).map { false } }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
        guard isConnected == true else { return isConnected.map { _ in .neverConnected } }
        return (try? await Task.sleep(for: timeout)).map { .timedOut }
    }
}
