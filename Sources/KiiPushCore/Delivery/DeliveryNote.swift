package struct DeliveryNote: Sendable {
    package var sequence: Int64
    package var installation: Int64
    package var kind: MessageEvent.Kind
    var message: QueuedMessage?
}

package enum DeliveryStall: Sendable, Hashable, CustomStringConvertible {
    /// The system has no thread for a handler. Delivery tries again every second.
    case noThread(SystemError)
    /// This many calls still block their threads long after their deadlines, and delivery may replace no more threads.
    case stuckCalls(Int)
    /// A handler outside this process cannot start, for this reason. Delivery tries again every second, or at the time
    /// that the reason names.
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
