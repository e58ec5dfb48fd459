/// Something that happened to a message, for those who watch.
package struct DeliveryNote: Sendable, Hashable {
    package var sequence: Int64
    package var installation: Int64
    package var kind: MessageEvent.Kind
}

/// Watches delivery. Called on whichever thread something happened, never under a lock; what takes long here holds up
/// delivery.
package protocol DeliveryObserver: Sendable {
    /// Whether anybody hears of events, so that they are worth being made. Asked once a turn.
    var isListening: Bool { get }

    /// These things happened, in this order, and are told at `now`. One call at a time.
    func deliveryHappened(_ notes: [DeliveryNote], at now: Timestamp)

    /// Places for handlers are lost, so that what is to be done waits. Told once for each reason.
    func deliveryStalled(_ stall: DeliveryStall)

    /// A reason for a stall is gone.
    func deliveryRecovered()
}

/// Why fewer handlers run than may.
package enum DeliveryStall: Sendable, Hashable, CustomStringConvertible {
    /// The system gives no thread for a handler (or the timer). It is tried again every second.
    case noThread(ThreadError)
    /// This many calls have not returned long after their deadlines and keep their threads; no more are given up, so a
    /// further call like them keeps its place until one returns.
    case stuckCalls(Int)
    /// A handler outside this process cannot be started, for this reason. It is tried again every second.
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

extension DeliveryObserver {
    package var isListening: Bool { true }
    package func deliveryStalled(_ stall: DeliveryStall) {}
    package func deliveryRecovered() {}
}
