extension PushAgent {
    /// The number for the program's icon, set by the last message that mentions it; `nil` for none.
    ///
    /// A payload whose `aps` has no `badge` clears the number, and so does one of zero or less. A payload without
    /// `aps`, as Kii sends it over MQTT, leaves the number alone. The agent stores the number in the state directory,
    /// where there is one, at most one second after a change. If a ``MessageFeed`` has a number, the badge is that
    /// number, whatever the handler answers; setting the badge sets the feed's number.
    ///
    /// - Source: UIKit's `applicationIconBadgeNumber`; the key `badge` of `aps`.
    public var badge: Int? { self.keptBadge.number }

    /// A stream of the number for the program's icon: the present value first, then each change. Each call makes a
    /// stream of its own. It keeps the newest 64 values for a slow listener and ends with the agent.
    public var badges: AsyncStream<Int?> { self.keptBadge.numbers }

    /// Sets the number for the program's icon, for instance when the user has seen the counted messages.
    ///
    /// - Parameter number: the number; `nil`, zero or less for none.
    public func setBadge(_ number: Int?) { self.keptBadge.set(number) }

    /// Presents again, page by page, the messages that earlier runs have presented and the user has not answered.
    /// Messages that cannot be presented are delivered. Returns at once when cancelled; a presenter that does not
    /// return keeps its thread.
    func presentAgain(_ installations: [(key: Int64, id: String)], _ core: PushRuntime.Core) async {
        defer { self.desk.endRestoring() }
        // The answers so far are written first, so that no answered message is read as still presented.
        guard (try? await self.runtime.loop.run({})) != nil else { return }
        for (key, id) in installations {
            var last: Int64 = 0
            while !Task.isCancelled {
                let after = last
                // The next run presents messages again that cannot be read now.
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

    /// Presents a page on a thread of its own, since a presenter may block.
    private func restore(_ page: [StoredMessage], _ installationID: String) async -> [Int64] {
        let desk = self.desk
        guard desk.presenter != nil else { return desk.restore(page, installationID: installationID) }
        let done = OneShot<[Int64]>()
        let thread = try? OSThread(name: "kii-presenter") {
            done.resume(desk.restore(page, installationID: installationID))
        }
        // Without a thread the messages rest until the next run.
        guard let thread else { return [] }
        thread.detach()
        return await done.value(onCancel: [])
    }
}
