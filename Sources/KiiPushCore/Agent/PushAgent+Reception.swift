extension PushAgent {
    /// The number for the program's icon, from the newest message with an `aps` object, or from ``setBadge(_:)``. `nil`
    /// for none.
    ///
    /// An `aps` without `badge`, or with a `badge` of zero or less, clears the number. A message without `aps`, the
    /// usual form over MQTT, does not change it. A file keeps the number for the agent's next run. If a
    /// ``MessageFeed`` keeps a number, the badge is the feed's number.
    ///
    /// - Source: UIKit's `applicationIconBadgeNumber`; the key `badge` of `aps`.
    public var badge: Int? { self.keptBadge.number }

    /// A stream of ``badge``: the present number, then each change. Each call makes its own stream, which buffers the
    /// newest 64 numbers for a slow reader and ends with the agent.
    public var badges: AsyncStream<Int?> { self.keptBadge.numbers }

    /// Sets ``badge``, for instance when the user has seen the counted messages.
    ///
    /// - Parameter number: the number; `nil`, zero or less for none.
    public func setBadge(_ number: Int?) { self.keptBadge.set(number) }

    /// Presents again the messages of the agent's earlier runs that the user has not answered. The handler gets
    /// messages that cannot be presented.
    func presentAgain(_ installations: [(key: Int64, id: String)], _ core: PushRuntime.Core) async {
        defer { self.desk.endRestoring() }
        // Waits for a turn of the loop, which writes earlier answers: no answered message should be presented again.
        guard (try? await self.runtime.loop.run({})) != nil else { return }
        for (key, id) in installations {
            var last: Int64 = 0
            while !Task.isCancelled {
                let after = last
                // If reading fails, the agent's next run presents the rest.
                let page = try? await self.runtime.loop.ask(core.pipeline) {
                    $0.store.presented(installation: key, after: after, limit: 100, completion: $1)
                }
                guard let page, let next = page.last?.sequence else { break }
                last = next
                await self.restore(page, id)
            }
        }
    }

    /// Uses a thread of its own, since a presenter may block.
    private func restore(_ page: [StoredMessage], _ installationID: String) async {
        let desk = self.desk
        guard desk.presenter != nil else { return desk.restore(page, installationID: installationID) }
        let done = OneShot<Void>()
        let thread = try? OSThread(name: "kii-presenter") {
            desk.restore(page, installationID: installationID)
            done.resume(())
        }
        // Without a thread, the agent's next run presents these messages.
        guard let thread else { return }
        thread.detach()
        await done.value(onCancel: ())
    }
}
