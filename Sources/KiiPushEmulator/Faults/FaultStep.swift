package struct FaultStep: Sendable, Hashable {
    /// The condition for the step to begin. Time and counts start when the previous step ends.
    package enum Condition: Sendable, Hashable {
        case atOnce
        case time(Duration)
        case requests(Int, RequestPattern)
        /// Counts messages that the broker has accepted for one installation; `nil` counts all installations.
        case messages(Int, of: String?)
    }

    package enum Action: Sendable, Hashable {
        /// Answers the matching requests of a period, or a number of them.
        case requests(Answer, for: Extent, RequestPattern)
        /// Affects the clients of one installation; `nil` for all installations.
        case clients(Deed, of: String?)
    }

    package enum Answer: Sendable, Hashable {
        case refusal(Int, code: String?)
        case disconnect
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
        /// Drops or duplicates the PUBLISH with this number, counted from 1 since the step began; redeliveries count.
        case message(Int, PacketRule.Action)

        var needsProxy: Bool {
            switch self {
            case .dropConnection, .loseSession, .takeOver: false
            case .holdAcknowledgements, .renumber, .message: true
            }
        }
    }

    /// The line in the script, from 1.
    package var line: Int
    /// The step's source, with one space between words.
    package var text: String
    package var condition: Condition
    package var action: Action

    var deed: (Deed, installation: String?)? {
        guard case .clients(let deed, let installation) = self.action else { return nil }
        return (deed, installation)
    }
}
