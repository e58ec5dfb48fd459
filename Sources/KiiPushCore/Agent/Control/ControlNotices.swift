/// The events of another process's agents, in order. A slow reader misses events, and learns their number. The sequence
/// has one reader.
package typealias ControlNotices = AsyncStream<ControlNotice>

package enum ControlNotice: Sendable {
    case event(PushEvent)
    /// The name of an event that only a later version of the library knows.
    case unknown(String)
    case missed(Int)
}

extension ControlNotices {
    init(_ client: ControlClient) throws(SystemError) {
        let thread = PollThread<OneShot<ControlNotice?>>(name: "kii-control", watchesDescriptors: false)
        try thread.start { NoticeReader(client: client) }
        // The closure runs when the stream ends or nobody holds the stream.
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
    /// Returns `nil` at the end, and if the other process refuses the request.
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
