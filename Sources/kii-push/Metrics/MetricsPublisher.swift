import KiiPushCore

/// Counts the events of an agent and publishes the numbers. An actor, since questions come at any time; events are counted
/// where they happen, so that none is missed.
actor MetricsPublisher {
    /// How old the file may be.
    private static let interval = Duration.seconds(5)

    private let file: String?
    private let console: Console
    private let counted = Locked((metrics: AgentMetrics(), hasChanged: false))
    /// Said once, until the file can be written again.
    private var isFileFailing = false
    private var socket: MetricsSocket?
    private var tasks: [Task<Void, Never>] = []

    init(file: String?, console: Console) {
        self.file = file
        self.console = console
    }

    /// Begins to publish what `settings` ask for; `nil` when they ask for nothing.
    ///
    /// - Throws: As ``start(socket:)``.
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
    func start(socket path: String?) throws {
        let socket = try path.map { try MetricsSocket(path: $0) }
        if let file = self.file {
            do {
                try MetricsFile.write(self.text, to: file)
            } catch {
                socket?.close()
                throw error
            }
            self.tasks.append(Task { await self.keepFile() })
        }
        guard let socket else { return }
        self.socket = socket
        self.tasks.append(
            Task {
                for await request in socket.requests { request.answer(self.text) }
            })
    }

    /// Takes an event into account, on whatever thread it happens.
    nonisolated func count(_ event: PushEvent) {
        self.counted.withLock { counted in
            counted.metrics.count(event)
            counted.hasChanged = true
        }
    }

    private var text: String { self.counted.withLock { $0.metrics }.prometheusText }

    /// Writes the last numbers, and takes the socket away.
    func stop() async {
        self.socket?.close()
        for task in self.tasks { task.cancel() }
        for task in self.tasks { await task.value }
        self.tasks = []
        self.writeFile()
    }

    private func keepFile() async {
        while (try? await Task.sleep(for: Self.interval)) != nil { self.writeFile() }
    }

    private func writeFile() {
        guard let file = self.file else { return }
        let hasChanged = self.counted.withLock { counted in
            defer { counted.hasChanged = false }
            return counted.hasChanged
        }
        guard hasChanged else { return }
        do {
            try MetricsFile.write(self.text, to: file)
            self.isFileFailing = false
        } catch {
            // To be written the next time.
            self.counted.withLock { $0.hasChanged = true }
            if !self.isFileFailing { self.console.warning(CommandFailure(describing: error).message) }
            self.isFileFailing = true
        }
    }
}
