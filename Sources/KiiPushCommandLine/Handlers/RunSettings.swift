import KiiPushCore

/// The options and arguments of `run` that are also members of "run" in config.json.
package struct RunOptions: ParsableArguments {
    @OptionGroup(title: "Handler") package var handler: HandlerOptions

    @Option(
        value: "PROGRAM", help: "Start a program with this library, found along the PATH unless it has a slash.",
        completion: .program)
    package var activate: String?

    @Option(value: "N", help: "How many messages PROGRAM gets at once, if it says that it takes as many. Default: 1.")
    package var concurrency: HandlerCount?

    @Flag(help: "Show alerts on the desktop unless PROGRAM is in front; opening one starts it or brings it forward.")
    package var present = false

    @Option(
        value: "TIME",
        help: "How long a program has to end after SIGTERM before SIGKILL follows (500ms, 10s, 5m). Default: 5s.")
    package var grace: TimeSpan?

    @Option(value: "TIME", help: "End with exit code 69 when no connection has stood for so long. Default: never.")
    package var exitWhenOffline: TimeSpan?

    @Option(
        value: "TIME",
        help:
            "Ask the broker whether it is there after so long without anything to say, 18h at most. Default: 45s, less "
            + "than the 60 s after which many load balancers end a silent connection.")
    package var keepAlive: TimeSpan?

    @OptionGroup(title: "Metrics") package var metrics: MetricsOptions
    @Argument(value: "ARG", help: "Further arguments of COMMAND or PROGRAM, after '--'.") package var arguments:
        [String] = []

    package init() {}
}

/// The values of ``RunOptions``, from options or from config.json.
package struct RunSettings: Sendable, Hashable {
    private var words: [String: [String]] = [:]
    /// The field `User-Agent` of a forwarded message, the same as in the profile's requests to the cloud.
    package var userAgent: String?

    private static let handlers = ["activate", "exec", "forwardTo"]
    private static let needs: [(member: String, owners: [String])] = [
        ("shell", ["exec"]), ("execTimeout", ["exec"]), ("forwardTimeout", ["forwardTo"]),
        ("jobs", ["exec", "forwardTo"]),
        ("concurrency", ["activate"]), ("present", ["activate"]), ("grace", ["exec", "activate"]),
        ("arguments", ["exec", "activate"]),
    ]
    private static let general = ["exitWhenOffline", "keepAlive", "metricsFile", "metricsSocket"]
    private static let longestKeepAlive = Duration.seconds(18 * 3600)

    package static var members: [String] { RunOptions().boundArguments().map(\.property) }

    package static func option(_ member: String) -> String { member == "arguments" ? "ARG" : "--\(member.kebabCase)" }

    package init(_ arguments: some ParsableArguments) {
        for bound in arguments.boundArguments() where bound.box.isGiven { self.words[bound.property] = bound.box.words }
    }

    /// Reads the `run` object of a profile in config.json.
    ///
    /// - Throws: ``CommandFailure`` with exit 78 for a member that is invalid, unknown or does not fit the others.
    package init(_ part: ConfigurationDocument) throws {
        let options = RunOptions()
        let bound = options.boundArguments()
        try part.object(bound.map(\.property))
        for argument in bound { try part[argument.property].map(argument.box.take) }
        self.init(options)
        if let problem = self.problem({ part.pointer.appending($0).description }) {
            throw CommandFailure(.configuration, "\(part.place): \(problem)")
        }
    }

    package var options: RunOptions {
        let options = RunOptions()
        for bound in options.boundArguments() {
            for word in self.words[bound.property] ?? [] { _ = bound.box.take(word) }
        }
        return options
    }

    package var handlerText: String {
        let options = self.options
        if let exec = options.handler.exec { return "exec " + (options.handler.shell ? "sh" : exec.words?.first ?? "") }
        if let target = options.handler.forwardTo { return "POST \(target.host)" }
        return options.activate.map { "activate \($0)" } ?? "nobody"
    }

    package var namesHandler: Bool { Self.handlers.contains { self.words[$0] != nil } }

    /// Adds the settings of `file` that `self` lacks. If `self` names a handler, the file's settings about handlers are
    /// ignored.
    package func completed(from file: RunSettings?) -> RunSettings {
        var settings = self
        for (member, words) in file?.words ?? [:] where self.words[member] == nil {
            if !self.namesHandler || Self.general.contains(member) { settings.words[member] = words }
        }
        return settings
    }

    /// The first error, such as two handlers; `nil` if there is none.
    ///
    /// - Parameter name: the spelling of a member: an option, or a place in the file.
    package func problem(_ name: (String) -> String) -> String? {
        let handlers = Self.handlers.filter { self.words[$0] != nil }
        if handlers.count > 1 { return "\(name(handlers[0])) and \(name(handlers[1])) exclude each other" }
        for (member, owners) in Self.needs where self.words[member] != nil {
            guard !owners.contains(where: { handlers.contains($0) }) else { continue }
            return "\(name(member)) needs \(owners.map(name).joined(separator: " or "))"
        }
        let options = self.options
        let timeouts = [
            ("execTimeout", options.handler.execTimeout), ("forwardTimeout", options.handler.forwardTimeout),
        ]
        for (member, time) in timeouts {
            guard let time, time.duration > HandlerOptions.longest else { continue }
            return "\(name(member)) is 30s at most: after that the attempt has failed anyway"
        }
        if let keepAlive = options.keepAlive, keepAlive.duration > Self.longestKeepAlive {
            return "\(name("keepAlive")) is 18h at most: MQTT has no room for more"
        }
        if let exec = options.handler.exec, !options.handler.shell, exec.words == nil {
            return "\(name("exec")) has a quote that is not closed, or ends with a backslash"
        }
        return nil
    }
}
