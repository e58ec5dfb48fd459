package import KiiPushCore

package struct HandlerAnswer: Sendable, Hashable {
    package enum Verdict: Sendable, Hashable {
        case done(FetchResult)
        /// The attempt failed. The next attempt begins after `retryAfter` at the earliest.
        case failed(String, retryAfter: Duration? = nil)
        case rejected(String)
        /// The message did not reach the handler, for a reason unrelated to the message. This does not count as an
        /// attempt. Until `retryAfter` has passed, no message goes to the handler.
        case postponed(String, retryAfter: Duration? = nil)
    }

    package var verdict: Verdict
    package var outcome: HandlerOutcome
}

/// The result of an attempt by a program or server, for people and for JSON lines. It contains no message body, no
/// argument of a command and no path of a URL.
package struct HandlerOutcome: Sendable, Hashable {
    package enum Ending: Sendable, Hashable {
        case exit(Int32)
        /// A signal ended the program. `limit` is the exceeded time limit, if any.
        case signal(Int32, limit: Duration?)
        case http(Int)
        case none(String)
    }

    package var target: String
    package var ending: Ending
    package var elapsed: Duration

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
