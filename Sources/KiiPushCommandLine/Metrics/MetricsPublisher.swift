import Glibc
package import KiiPushCore

/// Counts events of agents and publishes the numbers. Events are counted on the threads where they happen. An actor,
/// because requests may come at any time.
package actor MetricsPublisher {
    private let file: String?
    private let interval: Duration
    private let console: Console
    private let counted = Locked(AgentMetrics())
    private var isFileFailing = false
    private var socket: MetricsSocket?
    private var others: (@Sendable () async -> String)?
    private var written: String?
    private var tasks: [Task<Void, Never>] = []

    /// - Parameter interval: the time between two checks whether the file is up to date.
    package init(file: String?, interval: Duration = .seconds(5), console: Console) {
        (self.file, self.interval, self.console) = (file, interval, console)
    }

    /// Starts to publish to the destinations in `settings`; returns `nil` if there are none. Throws like
    /// ``start(socket:)``.
    package static func start(
        _ settings: RunSettings, interval: Duration = .seconds(5), console: Console
    ) async throws -> MetricsPublisher? {
        let metrics = settings.options.metrics
        guard metrics.metricsFile != nil || metrics.metricsSocket != nil else { return nil }
        let publisher = MetricsPublisher(file: metrics.metricsFile, interval: interval, console: console)
        try await publisher.start(socket: metrics.metricsSocket)
        return publisher
    }

    /// Writes the file for the first time, and listens on the socket.
    ///
    /// - Throws: ``CommandFailure``, such as exit 73 if the file or socket cannot be created, or if the file holds
    ///   something other than metrics; 75 if another process listens on the socket.
    package func start(socket path: String?) async throws {
        let socket = try path.map { try MetricsSocket(path: $0) }
        if let file = self.file {
            do {
                try Self.checkIsOwn(file)
                try self.replace(file, with: await self.text())
            } catch {
                socket?.close()
                throw CommandFailure(describing: error)
            }
            self.tasks.append(
                Task { while (try? await Task.sleep(for: self.interval)) != nil { await self.writeFile() } })
        }
        guard let socket else { return }
        self.socket = socket
        self.tasks.append(Task { for await request in socket.requests { request.answer(await self.text()) } })
    }

    /// Counts an event, on any thread.
    package nonisolated func count(_ event: PushEvent, of agent: String = "") {
        self.counted.withLock { $0.count(event, of: agent) }
    }

    /// Adds the counts of a runtime's inbox to the metrics. `nil` removes them.
    package func count(inboxOf runtime: PushRuntime?) {
        guard let runtime else { return self.others = nil }
        self.others = { (try? await runtime.ledger())?.prometheusText ?? "" }
    }

    package func add(_ others: @escaping @Sendable () async -> String) { self.others = others }

    private func text() async -> String {
        let others = await self.others?() ?? ""
        return self.counted.withLock { $0 }.prometheusText + others
    }

    package func stop() async {
        self.socket?.close()
        for task in self.tasks { task.cancel() }
        for task in self.tasks { await task.value }
        self.tasks = []
        await self.writeFile()
    }

    /// Replaces the file, which every user may read. Flushes nothing to the disk: after a crash of the machine, the
    /// restarted command writes the file again.
    private func replace(_ file: String, with text: String) throws(FileError) {
        try OwnFile.replace(file, with: Array(text.utf8), mode: 0o644, isDurable: false)
        self.written = text
    }

    private static func checkIsOwn(_ file: String) throws {
        guard let opened = FileDescriptor(opening: file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) else {
            // The file is missing, or is a symbolic link. The replacement replaces the link itself.
            if [ENOENT, ELOOP].contains(errno) { return }
            throw CommandFailure(.cannotCreate, "cannot read \(file), which would be replaced: \(errorText(errno))")
        }
        let start = Array("# HELP ".utf8)
        var bytes = [UInt8](repeating: 0, count: start.count)
        let count = opened.read(into: &bytes)
        guard count > 0, bytes != start else { return }
        throw CommandFailure(
            .cannotCreate, "\(file) holds something else than metrics, and would be replaced",
            hint: "name another file, or remove this one")
    }

    private func writeFile() async {
        guard let file = self.file else { return }
        let text = await self.text()
        guard text != self.written else { return }
        do {
            try self.replace(file, with: text)
            self.isFileFailing = false
        } catch {
            if !self.isFileFailing { self.console.warning(CommandFailure(describing: error).message) }
            self.isFileFailing = true
        }
    }
}
