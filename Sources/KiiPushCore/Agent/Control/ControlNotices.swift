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
        let thread = PollThread<OneShot<ControlNotice?>>(name: "kii-control", watchesDescriptors: false)
        try thread.start { NoticeReader(client: client) }
        // Burns when the stream has ended, or nobody holds it.
        let end = Fuse {
            thread.stop()
            client.interrupt()
        }
        self.init(unfolding: {
            let next = OneShot<ControlNotice?>()
            guard thread.send(next) else { return nil }
            defer { withExtendedLifetime(end) {} }
            return await next.value(onCancel: nil)
        })
    }
}

/// Reads a notice whenever one more is asked for, until there are no more.
private struct NoticeReader: PollLoop {
    let client: ControlClient

    func turn(_ wanted: [OneShot<ControlNotice?>], readable: Set<Int32>) -> PollWait? {
        var hasEnded = false
        for next in wanted {
            let notice = hasEnded ? nil : self.client.nextNotice()
            if case nil = notice { hasEnded = true }
            next.resume(notice)
        }
        return hasEnded ? nil : PollWait()
    }

    func end(_ unread: [OneShot<ControlNotice?>]) {
        for next in unread { next.resume(nil) }
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
