package import KiiPushCore

package struct HandlerAnswer: Sendable, Hashable {
    package enum Verdict: Sendable, Hashable {
        case done(FetchResult)
        /// The attempt failed for this reason, and another may follow, at the earliest after the time that was named.
        case failed(String, retryAfter: Duration? = nil)
        /// Not to be tried again, for this reason.
        case rejected(String)
        /// Not handed over, for this reason, which is none of the message's: it was no attempt. Nothing is to be handed over
        /// before the time that was named.
        case postponed(String, retryAfter: Duration? = nil)
    }

    package var verdict: Verdict
    package var outcome: HandlerOutcome
}

/// How an attempt went outside this process, for people and for JSON lines: never with a body, an argument or a path.
package struct HandlerOutcome: Sendable, Hashable {
    package enum Ending: Sendable, Hashable {
        case exit(Int32)
        /// The program was ended by this signal; `limit` when that was since its time was up.
        case signal(Int32, limit: Duration?)
        case http(Int)
        case none(String)
    }

    /// Who was asked: `exec ./on-push`, `POST localhost:3000`.
    package var target: String
    package var ending: Ending
    package var elapsed: Duration

    /// For the line of a verdict: `exec ./on-push  exit 0`.
    package var text: String { "\(self.target.terminalSafe)  \(self.words.text.terminalSafe)" }
    package var members: [(String, JSONValue)] {
        [("handler", JSONValue(self.target)), (self.words.key, self.words.value)]
    }

    private var words: (text: String, key: String, value: JSONValue) {
        switch self.ending {
        case .exit(let status): ("exit \(status)", "exit_status", JSONValue(status))
        case .signal(let number, let limit):
            ("signal \(number)" + (limit.map { " after \($0.text)" } ?? ""), "signal", JSONValue(number))
        case .http(let status): ("\(status)", "http_status", JSONValue(status))
        case .none(let reason): (reason, "no_answer", JSONValue(reason))
        }
    }
}
