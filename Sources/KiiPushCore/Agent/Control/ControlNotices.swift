/// What a process that receives tells of its agents, in the order of its happening.
///
/// Nothing is read ahead: who reads slowly misses events, and is told how many. For one reader.
package typealias ControlNotices = AsyncStream<ControlNotice>

/// What is told. New cases may be added.
package enum ControlNotice: Sendable {
    /// It happened to an agent, or is how its connection stands.
    case event(PushEvent)
    /// It happened to an agent of a later version, and only that version knows it: the event's words.
    case unknown(String)
    /// So many events were left out, because they were not read in time.
    case missed(Int)
}

extension ControlNotices {
    /// What `client` is told, which a thread of its own reads whenever one more is asked for.
    init(_ client: ControlClient) throws(SystemError) {
        // Who waits for the next one; `nil` when there is none, or nobody asks any more. Whoever waits is resumed: by the
        // thread, at the end, or when the task is cancelled.
        let wanted = Monitor<[OneShot<ControlNotice?>]?>([])
        try OSThread(name: "kii-control") {
            while let next = ControlNotices.nextWanted(wanted) {
                let notice = client.nextNotice()
                if case nil = notice { ControlNotices.end(wanted) }
                next.resume(notice)
            }
        }.detach()
        // Burns when the stream has ended, or nobody holds it.
        let end = Fuse {
            ControlNotices.end(wanted)
            client.interrupt()
        }
        self.init(unfolding: {
            let next = OneShot<ControlNotice?>()
            guard wanted.withLock({ $0?.append(next) }) != nil else { return nil }
            wanted.signal()
            defer { withExtendedLifetime(end) {} }
            return await next.value(onCancel: nil)
        })
    }

    /// Tells whoever waits that this is the end, and lets the thread leave.
    private static func end(_ wanted: Monitor<[OneShot<ControlNotice?>]?>) {
        let waiting = wanted.withLock { $0.take() }
        wanted.signalAll()
        for next in waiting ?? [] { next.resume(nil) }
    }

    private static func nextWanted(_ wanted: Monitor<[OneShot<ControlNotice?>]?>) -> OneShot<ControlNotice?>? {
        wanted.wait { waiting in
            guard let first = waiting?.first else { return waiting == nil ? .leave(nil) : .sleep(until: nil) }
            waiting?.removeFirst()
            return .leave(first)
        }
    }
}

extension ControlClient {
    /// Reads on until a notice comes; `nil` at the end, and when the other process does not do what it was asked.
    func nextNotice() -> ControlNotice? {
        while let reply = try? self.nextReply() {
            switch reply {
            case .event(let event): return .event(event)
            case .unknown(let words): return .unknown(words)
            case .missed(let count): return .missed(count)
            case .decided, .adopted: continue
            case .failed: return nil
            }
        }
        return nil
    }
}
