/// How long the cloud may take: the same in every command that ends when the cloud has answered.
struct CallOptions: ParsableArguments {
    @Option(value: "TIME", help: "How long one call to the cloud may take (500ms, 10s, 5m). Default: 30s.")
    var timeout: TimeSpan?
}
