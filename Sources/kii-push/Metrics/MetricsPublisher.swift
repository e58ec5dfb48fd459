import KiiPushCore

/// Counts the events of an agent and publishes the numbers. An actor, since questions come at any time; events are counted
/// where they happen, so that none is missed.
actor MetricsPublisher {
    private static let interval = Duration.seconds(5)

    private let file: String?
    private let console: Console
    private let counted = Locked((metrics: AgentMetrics(), hasChanged: false))
    /// Said once, until the file can be written again.
    private var isFileFailing = false
    private var socket: MetricsSocket?
    private var runtime: PushRuntime?
    private var writtenLedger: MessageLedger?
    private var tasks: [Task<Void, Never>] = []

    init(file: String?, console: Console) { (self.file, self.console) = (file, console) }

    /// Begins to publish what `settings` ask for; `nil` when they ask for nothing. Throws as ``start(socket:)``.
    static func start(_ settings: RunSettings, console: Console) async throws -> MetricsPublisher? {
        guard settings.metricsFile != nil || settings.metricsSocket != nil else { return nil }
        let publisher = MetricsPublisher(file: settings.metricsFile, console: console)
        try await publisher.start(socket: settings.metricsSocket)
        return publisher
    }

    /// Writes the file for the first time, and listens on the socket.
    ///
    /// - Throws: ``CommandFailure`` with exit 73 when the file or the socket cannot be made, 75 when another process
    ///   answers on the socket.
    func start(socket path: String?) async throws {
        let socket = try path.map { try MetricsSocket(path: $0) }
        if let file = self.file {
            do {
                try await self.replace(file)
            } catch {
                socket?.close()
                throw CommandFailure(describing: error)
            }
            self.tasks.append(
                Task { while (try? await Task.sleep(for: Self.interval)) != nil { await self.writeFile() } })
        }
        guard let socket else { return }
        self.socket = socket
        self.tasks.append(Task { for await request in socket.requests { request.answer(await self.text()) } })
    }

    /// Takes an event into account, on whatever thread it happens.
    nonisolated func count(_ event: PushEvent) {
        self.counted.withLock { counted in
            counted.metrics.count(event)
            counted.hasChanged = true
        }
    }

    /// Has the inbox of a runtime counted, which is open; `nil` when it ends.
    func count(inboxOf runtime: PushRuntime?) { self.runtime = runtime }

    private func text() async -> String {
        let ledger = try? await self.runtime?.ledger()
        return self.counted.withLock { $0.metrics }.prometheusText + (ledger?.prometheusText ?? "")
    }

    /// Writes the last numbers, and takes the socket away.
    func stop() async {
        self.socket?.close()
        for task in self.tasks { task.cancel() }
        for task in self.tasks { await task.value }
        self.tasks = []
        await self.writeFile()
    }

    /// Anybody may read it. A crash of the machine may lose it: the next run writes it at once.
    private func replace(_ file: String) async throws(FileError) {
        try OwnFile.replace(file, with: Array(await self.text().utf8), mode: 0o644, isDurable: false)
    }

    private func writeFile() async {
        guard let file = self.file else { return }
        let ledger = try? await self.runtime?.ledger()
        let isMoved = ledger != self.writtenLedger
        self.writtenLedger = ledger
        let hasChanged = self.counted.withLock { counted in
            defer { counted.hasChanged = false }
            return counted.hasChanged
        }
        guard hasChanged || isMoved else { return }
        do {
            try await self.replace(file)
            self.isFileFailing = false
        } catch {
            // To be written the next time.
            self.counted.withLock { $0.hasChanged = true }
            if !self.isFileFailing { self.console.warning(CommandFailure(describing: error).message) }
            self.isFileFailing = true
        }
    }
}
