/// What a process that receives tells of its agents, in the order of its happening.
///
/// Nothing is read ahead: who reads slowly misses events, and is told how many. For one reader.
package struct ControlNotices: AsyncSequence, Sendable {
    /// What is told. New cases may be added.
    package enum Notice: Sendable {
        /// It happened to an agent, or is how its connection stands.
        case event(PushEvent)
        /// So many events were left out, because they were not read in time.
        case missed(Int)
    }

    private let notices: AsyncStream<Notice>
    private let wanted: Monitor<Int?>

    init(_ client: ControlClient) throws(ThreadError) {
        let (notices, continuation) = AsyncStream.makeStream(of: Notice.self)
        let wanted = Monitor<Int?>(0)
        self.notices = notices
        self.wanted = wanted
        let thread = try OSThread(name: "kii-control") {
            while ControlNotices.isNextWanted(wanted), let notice = ControlNotices.next(of: client) {
                continuation.yield(notice)
            }
            continuation.finish()
        }
        thread.detach()
        continuation.onTermination = { _ in
            wanted.withLock { $0 = nil }
            wanted.signalAll()
            client.interrupt()
        }
    }

    /// Reads on until a notice comes; `nil` at the end, and when the other process does not do what it was asked.
    private static func next(of client: ControlClient) -> Notice? {
        while let reply = client.nextReply() {
            switch reply {
            case .event(let event): return .event(event)
            case .missed(let count): return .missed(count)
            case .decided, .adopted: continue
            case .failed: return nil
            }
        }
        return nil
    }

    /// Waits until one more is asked for; `false` when nobody asks any more.
    private static func isNextWanted(_ wanted: Monitor<Int?>) -> Bool {
        wanted.wait { count in
            guard let number = count else { return .leave(false) }
            guard number > 0 else { return .sleep(until: nil) }
            count = number - 1
            return .leave(true)
        }
    }

    /// Begins to read.
    package func makeAsyncIterator() -> Iterator {
        Iterator(notices: self.notices.makeAsyncIterator(), wanted: self.wanted)
    }

    /// Reads one notice after the other.
    package struct Iterator: AsyncIteratorProtocol {
        var notices: AsyncStream<Notice>.Iterator
        let wanted: Monitor<Int?>

        /// The next notice; `nil` at the end.
        package mutating func next() async -> Notice? { await self.next(isolation: nil) }

        /// The next notice; `nil` at the end.
        package mutating func next(isolation actor: isolated (any Actor)?) async -> Notice? {
            self.wanted.withLock { count in count = count.map { $0 + 1 } }
            self.wanted.signal()
            return await self.notices.next(isolation: actor)
        }
    }
}
