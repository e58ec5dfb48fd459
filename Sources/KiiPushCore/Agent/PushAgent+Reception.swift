extension PushAgent {
    /// The number for the program's icon, as the last message that says anything about it has set it; `nil` for none.
    ///
    /// A payload whose `aps` has no `badge` takes the number away, and so does one of zero or less; a payload without
    /// `aps`, as Kii sends it over MQTT, leaves the number alone. It is kept in the state directory, where there is one,
    /// at most one second after a change. If a ``MessageFeed`` has a number, the badge is that number, which does not
    /// depend on the handler's answers; setting the badge sets the feed's number.
    ///
    /// - Source: UIKit's `applicationIconBadgeNumber`; the key `badge` of `aps`.
    public var badge: Int? { self.keptBadge.number }

    /// The number for the program's icon, first now and then after each change. Each call makes a stream of its own, which
    /// keeps the newest 64 for a listener that is slow and ends with the agent.
    public var badges: AsyncStream<Int?> { self.keptBadge.numbers }

    /// Sets the number for the program's icon, as a program does whose user has seen what it counts.
    ///
    /// - Parameter number: the number; `nil`, zero or less for none.
    public func setBadge(_ number: Int?) { self.keptBadge.set(number) }

    /// Presents what earlier runs have presented and the user has not answered, page by page; what cannot be presented is
    /// delivered. Returns at once when cancelled; a presenter that does not return keeps its thread.
    func presentAgain(_ installations: [(key: Int64, id: String)], _ core: PushRuntime.Core) async {
        defer { self.desk.endRestoring() }
        // What was answered until now is written first, so that it is not read as still presented.
        guard (try? await self.runtime.loop.run({})) != nil else { return }
        for (key, id) in installations {
            var last: Int64 = 0
            while !Task.isCancelled {
                let after = last
                // What cannot be read now is presented again by the next run.
                let page = try? await self.runtime.loop.ask(core.pipeline) {
                    $0.store.presented(installation: key, after: after, limit: 100, completion: $1)
                }
                guard let page, let next = page.last?.sequence else { break }
                last = next
                let unpresented = await self.restore(page, id)
                try? await self.runtime.onPipeline { $0.unpresented(unpresented, installation: key) }
            }
        }
    }

    /// Has a page presented, on a thread of its own: a presenter may block.
    private func restore(_ page: [StoredMessage], _ installationID: String) async -> [Int64] {
        let desk = self.desk
        guard desk.presenter != nil else { return desk.restore(page, installationID: installationID) }
        let done = OneShot<[Int64]>()
        let thread = try? OSThread(name: "kii-presenter") {
            done.resume(desk.restore(page, installationID: installationID))
        }
        // Without a thread they rest until the next run.
        guard let thread else { return [] }
        thread.detach()
        return await done.value(onCancel: [])
    }
}
