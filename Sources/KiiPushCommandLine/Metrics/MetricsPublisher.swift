import Glibc
package import KiiPushCore

/// Counts the events of agents and publishes the numbers. An actor, since requests come at any time. Events are counted
/// on the threads where they happen, so that none is missed.
package actor MetricsPublisher {
    private let file: String?
    private let interval: Duration
    private let console: Console
    private let counted = Locked(AgentMetrics())
    /// Whether the failure to write the file has been reported; cleared by the next success.
    private var isFileFailing = false
    private var socket: MetricsSocket?
    /// Further metrics to publish.
    private var others: (@Sendable () async -> String)?
    private var written: String?
    private var tasks: [Task<Void, Never>] = []

    /// - Parameter interval: the time between two checks whether the file is up to date.
    package init(file: String?, interval: Duration = .seconds(5), console: Console) {
        (self.file, self.interval, self.console) = (file, interval, console)
    }

    /// Begins to publish to the destinations in `settings`; `nil` without one. Throws like ``start(socket:)``.
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
    /// - Throws: ``CommandFailure`` with exit 73 when the file or the socket cannot be made, or the file holds
    ///   something other than metrics; with 75 when another process answers on the socket.
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

    /// Counts an event, on any thread. `agent` is its agent, if there are several.
    package nonisolated func count(_ event: PushEvent, of agent: String = "") {
        self.counted.withLock { $0.count(event, of: agent) }
    }

    /// Counts the open inbox of a runtime; `nil` when the runtime ends.
    package func count(inboxOf runtime: PushRuntime?) {
        guard let runtime else { return self.others = nil }
        self.others = { (try? await runtime.ledger())?.prometheusText ?? "" }
    }

    /// Adds the metrics of `others` to each page.
    package func add(_ others: @escaping @Sendable () async -> String) { self.others = others }

    private func text() async -> String {
        let others = await self.others?() ?? ""
        return self.counted.withLock { $0 }.prometheusText + others
    }

    /// Writes the last numbers, and removes the socket.
    package func stop() async {
        self.socket?.close()
        for task in self.tasks { task.cancel() }
        for task in self.tasks { await task.value }
        self.tasks = []
        await self.writeFile()
    }

    /// Writes the file, readable by all. A crash of the machine may lose it: the next run writes it at once.
    private func replace(_ file: String, with text: String) throws(FileError) {
        try OwnFile.replace(file, with: Array(text.utf8), mode: 0o644, isDurable: false)
        self.written = text
    }

    /// Checks that the file to be replaced is empty, or holds metrics.
    private static func checkIsOwn(_ file: String) throws {
        guard let opened = FileDescriptor(opening: file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) else {
            // The file is missing, or a link, which is replaced and not followed.
            if [ENOENT, ELOOP].contains(errno) { return }
            throw CommandFailure(.cannotCreate, "cannot read \(file), which would be replaced: \(errorText(errno))")
        }
        let start = Array("# HELP ".utf8)
        var bytes = [UInt8](repeating: 0, count: start.count)
        let count = opened.read(into: &bytes)
        // A folder cannot be read; replacing it fails later.
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
