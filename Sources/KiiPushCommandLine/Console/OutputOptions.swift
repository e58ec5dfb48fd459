package struct OutputOptions: ParsableArguments {
    @Flag(help: "One JSON object a line on standard output ('kii-push help json').") package var json = false
    @Flag(short: "q", help: "Say only what was asked for and what went wrong.") package var quiet = false
    @Flag(short: "v", help: "Say more on standard error.") package var verbose = false
    @Option(value: "WHEN", help: "Colours: auto, always or never.") var color = ColorChoice.auto

    package init() {}

    package var console: Console {
        Console(json: self.json, quiet: self.quiet, verbose: self.verbose, color: self.color)
    }
}
