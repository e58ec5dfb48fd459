import KiiPushActivation
import KiiPushCore

/// Runs a command for each message. The command gets the payload on standard input and answers by its exit status.
final class CommandHandler: OutsideHandler {
    private let name: String
    private let timeout: Duration
    private let grace: Duration?
    private let directory: String?
    private let report: @Sendable (Activator.Event) -> Void
    private let activators: [Activator]
    private let loads: Locked<[Int]>

    init(
        _ words: [String], name: String, _ options: RunOptions, directory: String?,
        report: @escaping @Sendable (Activator.Event) -> Void
    ) {
        self.name = name
        self.timeout = options.handler.execTimeout?.duration ?? HandlerOptions.longest
        let grace = options.grace?.duration
        self.grace = grace
        (self.directory, self.report) = (directory, report)
        let jobs = options.handler.jobs?.value ?? 1
        self.loads = Locked(Array(repeating: 0, count: jobs))
        self.activators = (1...jobs).map { number in
            var activation = Activator.Configuration(command: words)
            activation.input = .standardInput
            activation.sendsOutputToStandardError = true
            activation.withheldVariables = ChildEnvironment.withheld
            if let grace { activation.terminationGrace = grace }
            activation.processFile = directory.map { LeftoverPrograms.file(number, in: $0) }
            return Activator(configuration: activation, report: report)
        }
    }

    func begin() {
        guard let directory else { return }
        // Begins only activators whose process file exists, because an earlier run of this command left the file. The
        // remaining activators begin with their first message: an unused activator needs no thread.
        for number in LeftoverPrograms.numbers(in: directory) where number <= self.activators.count {
            self.activators[number - 1].begin()
        }
        LeftoverPrograms.end(
            in: directory, beyond: self.activators.count, grace: self.grace, report: self.report)
    }

    func answer(to message: HandledMessage, _ context: DeliveryContext) async -> HandlerAnswer {
        let index = self.loads.withLock { loads in
            let index = loads.indices.min { loads[$0] < loads[$1] } ?? 0
            loads[index] += 1
            return index
        }
        defer { self.loads.withLock { $0[index] -= 1 } }
        let limit = min(self.timeout, context.timeRemaining)
        let start = ContinuousClock.now
        let outcome = await self.activators[index].outcome(
            of: message.payload, context: context, limit: limit,
            environment: ChildEnvironment.variables(for: message, context, limit: limit))
        let elapsed = ContinuousClock.now - start
        let ending: HandlerOutcome.Ending =
            switch outcome.ending {
            case .exited(let status): .exit(status)
            case .signalled(let number): .signal(number, limit: elapsed >= limit ? limit : nil)
            case .unknown: .none("unknown exit status")
            case nil: .none("not started")
            }
        return HandlerAnswer(
            verdict: Self.verdict(outcome.verdict, ending),
            outcome: HandlerOutcome(target: "exec \(self.name)", ending: ending, elapsed: elapsed))
    }

    func stop() async {
        await withTaskGroup(of: Void.self) { group in
            for activator in self.activators { group.addTask { await activator.stop() } }
        }
    }

    private static func verdict(_ verdict: HandlerVerdict, _ ending: HandlerOutcome.Ending) -> HandlerAnswer.Verdict {
        switch verdict {
        case .result(.failed): return .failed("the program asks for another attempt (exit status 75)")
        case .result(let result): return .done(result)
        case .rejected(let reason): return .rejected(reason)
        case .threw(let reason, _):
            guard case .signal(let number, let limit?) = ending else { return .failed(reason) }
            return .failed("the program did not end within \(limit.text) and was killed (signal \(number))")
        case .unstarted(let reason, let retryAfter): return .postponed(reason, retryAfter: retryAfter)
        case .unanswered, .committing, .presented, .unreached, .setAside: return .failed("the program gave no answer")
        }
    }
}
