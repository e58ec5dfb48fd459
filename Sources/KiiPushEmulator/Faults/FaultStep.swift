/// One step of a script: what happens, and when.
package struct FaultStep: Sendable, Hashable {
    /// What the step waits for. It counts from the end of the step before, or from the beginning of the script.
    package enum Condition: Sendable, Hashable {
        case atOnce
        case time(Duration)
        case requests(Int, RequestPattern)
        /// Messages for an installation, or with `nil` for any, that the broker has taken.
        case messages(Int, of: String?)
    }

    package enum Action: Sendable, Hashable {
        /// What requests meet, until so many have met it or so much time has passed.
        case requests(Answer, for: Extent, RequestPattern)
        /// What the clients of an installation meet, or with `nil` those of all installations.
        case clients(Deed, of: String?)
    }

    package enum Answer: Sendable, Hashable {
        case refusal(Int, code: String?)
        /// The connection is closed without an answer.
        case disconnect
        /// The request is carried out, and its answer is held back.
        case delay(Duration)
    }

    package enum Extent: Sendable, Hashable {
        case time(Duration)
        case requests(Int)
    }

    package enum Deed: Sendable, Hashable {
        case dropConnection
        case loseSession
        case takeOver(Duration)
        case holdAcknowledgements(Duration)
        case renumber
        /// What happens to the message of this number, counted from the beginning of the step.
        case message(Int, PacketRule.Action)

        /// Whether mosquitto cannot be told to do it.
        var needsProxy: Bool {
            switch self {
            case .dropConnection, .loseSession, .takeOver: false
            case .holdAcknowledgements, .renumber, .message: true
            }
        }
    }

    /// Where it begins in the script, from 1.
    package var line: Int
    /// As it was written, with one space between words.
    package var text: String
    package var condition: Condition
    package var action: Action

    var deed: (Deed, installation: String?)? {
        guard case .clients(let deed, let installation) = self.action else { return nil }
        return (deed, installation)
    }
}
