package struct MetricsOptions: ParsableArguments {
    @Option(
        value: "FILE",
        help: "Keep metrics in this file, for node_exporter's textfile collector: its name ends in .prom.",
        completion: .file
    )
    var metricsFile: String?

    @Option(value: "PATH", help: "Answer HTTP on this Unix socket with metrics; nobody else may connect.")
    var metricsSocket: String?

    package init() {}
}
