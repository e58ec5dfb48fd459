import KiiPushCore

struct SyncCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync", abstract: "Makes the profile's subscriptions those that are declared.",
        examples: [
            ("What would change?", "kii-push sync --dry-run"),
            ("Subscribe to what config.json declares", "kii-push sync"),
            ("And end what it does not declare", "kii-push sync --prune"),
            ("From a file of its own: {\"topics\": [\"alerts\"]}", "kii-push sync subscriptions.json"),
        ],
        discussion: [
            "Declared is what the profile's part of config.json has in \"subscriptions\": an object with \"topics\" and "
                + "\"buckets\", each a list of names as on a command line; FILE is such an object. + is subscribed to, "
                + "- is subscribed and not declared, and ended with --prune alone.",
            "What is subscribed is found out as by 'kii-push subscriptions'. A topic that is missing is created as by "
                + "'kii-push subscribe'. That nothing had to be done is no error.",
        ],
        exitCodes: ExitStatus.ofCloudCommands + [.missingInput], environment: EnvironmentVariable.ofCloudCommands
    )

    @Argument(
        value: "FILE", help: "An object with \"topics\" and \"buckets\"; '-' reads standard input.", completion: .file)
    var file: String?

    @Flag(help: "Change nothing; show what would be changed.") var dryRun = false
    @Flag(help: "End what is subscribed and not declared.") var prune = false
    @OptionGroup var cloud: CloudCommandOptions

    func run() async throws {
        let ofFile = try self.file.map { try DeclaredSubscriptions(reading: $0) }
        try await self.cloud.withSession { session in
            let console = session.console
            let principal = try session.registration().principal
            guard let declaration = try ofFile ?? session.declared() else {
                throw CommandFailure(
                    .configuration, "profile '\(session.profile.name)' declares no subscriptions",
                    hint: "add \"subscriptions\" to its part of config.json, or name a file: kii-push help files")
            }
            let declared = try declaration.targets(of: principal)
            var isEqual = true
            for target in declared {
                guard try await !session.own().isSubscribed(to: target, as: principal) else { continue }
                isEqual = false
                if !self.dryRun { _ = try await session.subscribe(principal, to: target) }
                try console.show(.missing, target, isDone: !self.dryRun)
            }
            let others = try await session.candidates(declared: declared, scopes: session.ownScopes())
                .filter { !declared.contains($0.target) }
            for (target, _) in try await session.subscribed(principal, among: others) {
                isEqual = false
                let isEnded = self.prune && !self.dryRun
                if isEnded { _ = try await session.unsubscribe(principal, from: target) }
                try console.show(.surplus, target, isDone: isEnded)
                if !self.prune { console.status("\(target.text) is kept; --prune ends it") }
            }
            if isEqual { console.status("nothing to do") }
        }
    }
}

private enum Difference: String { case missing, surplus }

extension Console {
    fileprivate func show(_ difference: Difference, _ target: SubscriptionTarget, isDone: Bool) throws {
        let sign = difference == .missing ? self.style("+", .green) : self.style("-", .red)
        try self.line("\(sign) \(target.text)")
        try self.object(
            "difference",
            target.json + [("difference", JSONValue(difference.rawValue)), ("changed", JSONValue(isDone))])
    }
}
