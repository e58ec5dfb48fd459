import KiiPushCommandLine
import KiiPushCore

struct RunSession: Sendable {
    let profile: String
    let settings: RunSettings
    /// The time that running attempts have after the session has begun to stop.
    let shutdownGrace: Duration
    let runtime: PushRuntime
    let agent: PushAgent
    let receiver: RunReceiver
    let view: RunView
    let status: RunStatus
    var metrics: MetricsPublisher?

    /// Receives until the task is cancelled, then stops gracefully.
    ///
    /// - Parameter patience: the longest wait until another process unlocks the state directory.
    /// - Returns: the error that ended the session, or that occurred while it stopped.
    func receive(patience: Duration) async -> (any Error)? {
        self.status.wait()
        let events = EventQueue()
        self.agent.observe { [status] event in
            status.observe(event)
            events.put(event)
        }
        if let metrics { self.agent.observe { metrics.count($0) } }
        let shown = Task { for await (_, notice) in events.notices { await self.view.show(notice) } }
        var failure: (any Error)?
        let end = ContinuousClock.now + patience
        while true {
            do {
                // Locks the state directory first. Without the lock, this process could end programs of another process
                // that receives.
                _ = try await self.runtime.ledger()
                await self.metrics?.count(inboxOf: self.runtime)
                self.receiver.begin()
                try await self.agent.run()
            } catch PushAgentError.stateDirectoryInUse where ContinuousClock.now < end && !Task.isCancelled {
                try? await Task.sleep(for: .milliseconds(100))
                continue
            } catch PushAgentError.file(let error) where error.isTemporary && !Task.isCancelled {
                // Tries again after a pause: a disk that is full for a while must not end the service.
                let pause = Duration.seconds(5)
                events.put(.disconnected(reason: error.description, retryIn: pause))
                try? await Task.sleep(for: pause)
                continue
            } catch {
                failure = error
            }
            break
        }
        self.status.endWait()
        events.finish()
        await shown.wait(atMost: .seconds(2))
        await self.receiver.stop()
        await self.metrics?.count(inboxOf: nil)
        await self.runtime.shutdown()
        return failure
    }

    /// The state for a user who requests it: counts and conditions, without contents of messages.
    func state(since begun: ContinuousClock.Instant, processID: Int32) async -> JSONValue {
        var members = JSONMembers([
            "v": 1, "type": "service", "at": Timestamp.now(), "pid": processID,
            "uptime_ms": (ContinuousClock.now - begun).milliseconds, "profile": self.profile,
            "handler": self.settings.handlerText, "connection": self.status.connection.json,
            "in_hand": self.receiver.notes.inHand,
        ])
        do {
            members += try await self.runtime.ledger().counts.map { ($0, JSONValue($1)) }
        } catch {
            members.append(("counts_missing", JSONValue("\(error)")))
        }
        return .object(members)
    }
}
