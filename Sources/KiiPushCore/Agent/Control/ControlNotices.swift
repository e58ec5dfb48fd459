/// The notices of a receiving process about its agents, in the order of the events.
///
/// The sequence reads nothing ahead: a slow reader misses events, and learns how many. It has one reader.
package typealias ControlNotices = AsyncStream<ControlNotice>

/// A notice about an agent. New cases may be added.
package enum ControlNotice: Sendable {
    /// An event of an agent, or the present state of its connection.
    case event(PushEvent)
    /// An event that only a later version knows, by its words.
    case unknown(String)
    /// The number of events that were left out, because the reader was too slow.
    case missed(Int)
}

extension ControlNotices {
    /// The notices of `client`. A thread of their own reads one for each request.
    init(_ client: ControlClient) throws(SystemError) {
        let thread = PollThread<OneShot<ControlNotice?>>(name: "kii-control", watchesDescriptors: false)
        try thread.start { NoticeReader(client: client) }
        // The fuse burns when the stream has ended, or nobody holds it.
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
    /// Reads until a notice comes; `nil` at the end, and when the other process refuses the request.
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
