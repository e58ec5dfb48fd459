/// Something that happened to a message, for those who watch.
package struct DeliveryNote: Sendable {
    package var sequence: Int64
    package var installation: Int64
    package var kind: MessageEvent.Kind
    /// The message, where it was at hand.
    var message: QueuedMessage?
}

/// Why fewer handlers run than may.
package enum DeliveryStall: Sendable, Hashable, CustomStringConvertible {
    /// The system gives no thread for a handler (or the timer). It is tried again every second.
    case noThread(SystemError)
    /// This many calls have not returned long after their deadlines and keep their threads; no more are given up, so a
    /// further call like them keeps its place until one returns.
    case stuckCalls(Int)
    /// A handler outside this process cannot be started, for this reason. It is tried again every second, or when the time
    /// comes that the reason names.
    case noHandler(String)

    package var description: String {
        switch self {
        case .noThread(let error): error.description
        case .noHandler(let reason): reason
        case .stuckCalls(let count):
            "\(count) calls of handlers have not returned long after their deadlines, and no more threads are given up "
                + "to such calls; have the handlers return, or restart the program"
        }
    }
}
