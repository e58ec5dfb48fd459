import KiiPushActivation
import KiiPushCore
import KiiPushDesktop

/// What `run` is to do, as its options or a profile's part of config.json say it; what is `nil` is not said.
package struct RunSettings: Sendable, Hashable {
    /// A member of `run` in config.json, and the option that says the same.
    enum Member: String, CaseIterable, Sendable {
        case exec, shell, execTimeout, forwardTo, forwardTimeout, jobs, activate, arguments, concurrency, present, grace
        case exitWhenOffline, keepAlive, metricsFile, metricsSocket

        var option: String { self == .arguments ? "ARG" : "--\(self.rawValue.kebabCase)" }
    }

    var exec: CommandText?
    var shell = false
    var execTimeout: Duration?
    var forwardTo: ForwardTarget?
    var forwardTimeout: Duration?
    var jobs: Int?
    var activate: String?
    var arguments: [String] = []
    var concurrency: Int?
    var present = false
    var grace: Duration?
    var exitWhenOffline: Duration?
    var keepAlive: Duration?
    var metricsFile: String?
    var metricsSocket: String?
    /// The field `User-Agent` of a forwarded message: the profile's own, as in a request to the cloud.
    var userAgent: String?

    private static let longestKeepAlive = Duration.seconds(18 * 3600)

    /// Who handles messages, in a few words; never with arguments or a path of a URL.
    var handlerText: String {
        if let exec = self.exec { return "exec " + (self.shell ? "sh" : exec.words?.first ?? "") }
        if let target = self.forwardTo { return "POST \(target.host)" }
        return self.activate.map { "activate \($0)" } ?? "nobody"
    }

    var namesHandler: Bool { !self.handlers.isEmpty }

    private var handlers: [Member] {
        [
            (Member.activate, self.activate != nil), (.exec, self.exec != nil), (.forwardTo, self.forwardTo != nil),
        ].filter(\.1).map(\.0)
    }

    /// These settings, with those of a file where they say nothing. A handler that they name takes the place of all that
    /// the file says about handlers.
    package func completed(from file: RunSettings?) -> RunSettings {
        guard let file else { return self }
        var settings = self
        settings.exitWhenOffline = self.exitWhenOffline ?? file.exitWhenOffline
        settings.keepAlive = self.keepAlive ?? file.keepAlive
        settings.metricsFile = self.metricsFile ?? file.metricsFile
        settings.metricsSocket = self.metricsSocket ?? file.metricsSocket
        guard !self.namesHandler else { return settings }
        settings.exec = file.exec
        settings.shell = self.shell || file.shell
        settings.execTimeout = self.execTimeout ?? file.execTimeout
        settings.forwardTo = file.forwardTo
        settings.forwardTimeout = self.forwardTimeout ?? file.forwardTimeout
        settings.jobs = self.jobs ?? file.jobs
        settings.activate = file.activate
        settings.arguments = self.arguments.isEmpty ? file.arguments : self.arguments
        settings.concurrency = self.concurrency ?? file.concurrency
        settings.present = self.present || file.present
        settings.grace = self.grace ?? file.grace
        return settings
    }

    /// What contradicts itself; `nil` when nothing does.
    ///
    /// - Parameter name: how a member is named where it was said.
    func problem(_ name: (Member) -> String) -> String? {
        let handlers = self.handlers
        if handlers.count > 1 { return "\(name(handlers[0])) and \(name(handlers[1])) exclude each other" }
        let needs: [(Member, isSaid: Bool, [Member])] = [
            (.shell, self.shell, [.exec]), (.execTimeout, self.execTimeout != nil, [.exec]),
            (.forwardTimeout, self.forwardTimeout != nil, [.forwardTo]),
            (.jobs, self.jobs != nil, [.exec, .forwardTo]),
            (.concurrency, self.concurrency != nil, [.activate]), (.present, self.present, [.activate]),
            (.grace, self.grace != nil, [.exec, .activate]), (.arguments, !self.arguments.isEmpty, [.exec, .activate]),
        ]
        for (member, isSaid, owners) in needs where isSaid && !owners.contains(where: { handlers.contains($0) }) {
            return "\(name(member)) needs \(owners.map(name).joined(separator: " or "))"
        }
        for (member, time) in [(Member.execTimeout, self.execTimeout), (.forwardTimeout, self.forwardTimeout)] {
            guard let time, time > HandlerOptions.longest else { continue }
            return "\(name(member)) is 30s at most: after that the attempt has failed anyway"
        }
        if let keepAlive, keepAlive > Self.longestKeepAlive {
            return "\(name(.keepAlive)) is 18h at most: MQTT has no room for more"
        }
        if let exec = self.exec, !self.shell, exec.words == nil {
            return "\(name(.exec)) has a quote that is not closed, or ends with a backslash"
        }
        return nil
    }

    /// Makes what handles the messages; `nil` when nobody is named. Both closures are called on threads that they must not
    /// block. Throws ``CommandFailure`` with exit 66 for a program that is not there; ``TransportError``.
    func receiver(
        directory: String, report: @escaping @Sendable (Activator.Event) -> Void,
        whenUnpresentable: @escaping @Sendable (DesktopServiceError) -> Void
    ) throws -> RunReceiver? {
        if let outside = try self.outsideHandler(directory: directory, report: report) {
            return RunReceiver(.outside(outside), concurrency: self.jobs ?? 1)
        }
        guard let program = self.activate else { return nil }
        try ProgramLookup.require(program)
        var activation = Activator.Configuration(command: [program] + self.arguments)
        activation.sendsOutputToStandardError = true
        activation.withheldVariables = ChildEnvironment.withheld
        if let grace = self.grace { activation.terminationGrace = grace }
        activation.processFile = LeftoverPrograms.file(1, in: directory)
        let presentation = self.present ? RunReceiver.Presentation(of: program, whenUnpresentable) : nil
        let activator = Activator(configuration: activation, lifecycle: presentation?.lifecycle, report: report)
        let endLeftovers = { @Sendable [grace] in
            LeftoverPrograms.end(in: directory, beyond: 1, grace: grace, report: report)
        }
        return RunReceiver(
            .activator(activator, presentation, endLeftovers: endLeftovers), concurrency: self.concurrency ?? 1)
    }
}
