/// Work, such as SQL statements, for the transaction that stores a handler's answer.
package struct AnswerWork: Sendable, Hashable {
    package let content: any AnyObject & Sendable

    package init(_ content: any AnyObject & Sendable) { self.content = content }

    package static func == (one: AnswerWork, other: AnswerWork) -> Bool { one.content === other.content }
    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self.content)) }
}

package enum AnswerRefusal: Sendable, Hashable {
    case work(String)
    /// Another process has the message, or the message is gone.
    case late
    case postponed
}

struct UncommittedAnswer: Sendable {
    let message: QueuedMessage
    let result: FetchResult
    let startedAt: MonotonicInstant
    let endedAt: MonotonicInstant
}

extension Scheduler {
    mutating func commit(
        _ slot: Int, _ message: QueuedMessage, _ result: FetchResult, _ work: AnswerWork, startedAt: MonotonicInstant,
        now: MonotonicInstant
    ) {
        guard let call = self.calls[slot], self.uncommitted[message.sequence] == nil else {
            return self.note(.late(attempt: message.attempts + 1), message)
        }
        self.weigh(message.bytes, at: call.place)
        self.sources[call.place].arriving += 1
        self.uncommitted[message.sequence] = UncommittedAnswer(
            message: message, result: result, startedAt: startedAt, endedAt: now)
        self.change(
            message, .committing(result, work), attempts: 1,
            attempt: .init(number: message.attempts + 1, startedAt: startedAt, endedAt: now))
        guard self.configuration.isStrictlyOrdered else { return }
        self.addBlocker(message.sequence, at: call.place)
        if call.isCuttable { self.output.cuts.append(call.id) }
    }

    mutating func conclude(_ changes: [MessageChange], _ refusals: [Int64: AnswerRefusal]) {
        for case (let sequence, .committing) in changes.lazy.map({ ($0.sequence, $0.verdict) })
        where refusals[sequence] != .postponed {
            guard let answer = self.uncommitted.removeValue(forKey: sequence) else { continue }
            let message = answer.message
            var isRetried = false
            switch refusals[sequence] {
            case .work(let reason):
                isRetried = self.retry(message, .threw(reason), startedAt: answer.startedAt, now: answer.endedAt)
            case .late: self.note(.late(attempt: message.attempts + 1), message)
            case nil, .postponed: self.note(.done(answer.result, attempt: message.attempts + 1, isLate: false), message)
            }
            if let place = self.place(of: message.source) {
                if isRetried { self.holdFollowing(message, at: place) } else { self.unblock(sequence, at: place) }
            }
            self.forget(message)
        }
    }
}
