import KiiPushCommandLine
import KiiPushCore

struct Replay: Sendable {
    private let outside: any OutsideHandler
    private let console: Console
    private let speed: Int?
    private let jobs: Int

    init(_ outside: any OutsideHandler, _ console: Console, speed: Int?, jobs: Int) {
        (self.outside, self.console, self.speed, self.jobs) = (outside, console, speed, jobs)
    }

    /// - Returns: the number of messages that failed.
    /// - Throws: errors of the output; ``SilentExit`` after a signal, when all attempts have ended.
    func run(_ messages: [ReplayedMessage]) async throws -> Int {
        let signals = try StopSignals.ofCommand()
        self.outside.begin()
        let result = await withTaskGroup(of: Result<Int, any Error>.self) { group in
            group.addTask {
                do { return .success(try await self.handOver(messages)) } catch { return .failure(error) }
            }
            group.addTask {
                guard let number = await signals.next() else { return .failure(CancellationError()) }
                return .failure(SilentExit.status(.afterStop(signal: number)))
            }
            let first = await group.next() ?? .success(0)
            group.cancelAll()
            await self.outside.stop()
            return first
        }
        return try result.get()
    }

    private func handOver(_ messages: [ReplayedMessage]) async throws -> Int {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            var (failures, running) = (0, 0)
            var former: Timestamp?
            for message in messages {
                if let speed = self.speed, let former {
                    let pause = max(0, message.receivedAt.millisecondsSinceEpoch - former.millisecondsSinceEpoch)
                    try await Task.sleep(for: .milliseconds(pause / Int64(speed)))
                }
                former = message.receivedAt
                if running == self.jobs, let isDone = try await group.next() {
                    running -= 1
                    failures += isDone ? 0 : 1
                }
                try Task.checkCancellation()
                try self.console.show(message.received, message.context(attempt: 1))
                try await StandardStream.output.written()
                group.addTask {
                    let answer = try await self.answer(to: message)
                    try self.console.show(answer, to: message.id)
                    try await StandardStream.output.written()
                    return answer.isDone
                }
                running += 1
            }
            for try await isDone in group where !isDone { failures += 1 }
            return failures
        }
    }

    /// Passes a message to the handler. If the message does not reach the handler, tries again for at most 30 s. Each
    /// try has the whole time limit of an attempt.
    func answer(to message: ReplayedMessage) async throws -> HandlerAnswer {
        let end = MonotonicInstant.now() + HandlerOptions.longest
        while true {
            let answer = await self.outside.answer(to: HandledMessage(message.received), message.context(attempt: 1))
            let remaining = end - MonotonicInstant.now()
            guard case .postponed(_, let retryAfter) = answer.verdict else { return answer }
            let pause = retryAfter ?? .seconds(1)
            guard pause < remaining else { return answer }
            try await Task.sleep(for: pause)
        }
    }
}

extension HandlerAnswer {
    fileprivate var isDone: Bool {
        if case .done(let result) = self.verdict { result != .failed } else { false }
    }
}

extension HandlerOutcome {
    fileprivate func tells(_ reason: String) -> Bool {
        guard case .none(let said) = self.ending, let cause = said.firstRange(bytesOf: ": ") else { return false }
        return reason.hasSuffix(said[cause.upperBound...])
    }
}

extension Console {
    fileprivate func show(_ answer: HandlerAnswer, to id: Int64) throws {
        let (word, style, detail): (String, TextStyle, String?) =
            switch answer.verdict {
            case .done(let result): (result.word, result == .newData ? .green : .dim, nil)
            case .failed(let reason, _), .postponed(let reason, _): ("failed", .red, reason)
            case .rejected(let reason): ("dead", .red, reason)
            }
        let reason = detail.flatMap { answer.outcome.tells($0) ? nil : $0.terminalSafe }
        let words = [answer.outcome.text, answer.outcome.elapsed.text, reason].compactMap { $0 }
        try self.line(
            "\(Timestamp.now().localClock) <-- \(self.style(word.padded(to: 14), style)) #\(id)  "
                + words.joined(separator: "  "))
        try self.object(
            "verdict",
            .init([
                "id": id, "result": word, "at": Timestamp.now(),
                "elapsed_ms": answer.outcome.elapsed.milliseconds, "attempt": 1,
            ]) + answer.outcome.members + .init(["reason": detail]))
    }
}
