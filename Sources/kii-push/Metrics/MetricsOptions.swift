/// Where the numbers of a long run are published.
struct MetricsOptions: ParsableArguments {
    @Option(
        value: "FILE",
        help: "Keep metrics in this file, for node_exporter's textfile collector: its name ends in .prom.",
        completion: .file
    )
    var metricsFile: String?

    @Option(value: "PATH", help: "Answer HTTP on this Unix socket with metrics; nobody else may connect.")
    var metricsSocket: String?

    /// Begins to publish; `nil` when nobody asked for it.
    ///
    /// - Throws: As ``MetricsPublisher/start(file:socket:console:)``.
    func start(console: Console) async throws -> MetricsPublisher? {
        guard self.metricsFile != nil || self.metricsSocket != nil else { return nil }
        let publisher = MetricsPublisher(file: self.metricsFile, console: console)
        try await publisher.start(socket: self.metricsSocket)
        return publisher
    }
}
