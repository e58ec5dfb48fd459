import KiiPushCore

/// Counts the events of an agent and publishes the numbers. An actor, since events and questions come at any time.
actor MetricsPublisher {
    /// How old the file may be.
    private static let interval = Duration.seconds(5)

    private let file: String?
    private let console: Console
    private var metrics = AgentMetrics()
    private var hasChanged = false
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
                try MetricsFile.write(self.metrics.prometheusText, to: file)
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
                for await request in socket.requests { request.answer(self.metrics.prometheusText) }
            })
    }

    /// Takes an event into account.
    func count(_ event: PushEvent) {
        self.metrics.count(event)
        self.hasChanged = true
    }

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
        guard let file = self.file, self.hasChanged else { return }
        do {
            try MetricsFile.write(self.metrics.prometheusText, to: file)
            self.hasChanged = false
            self.isFileFailing = false
        } catch {
            if !self.isFileFailing { self.console.warning(CommandFailure(describing: error).message) }
            self.isFileFailing = true
        }
    }
}
