/// The machine is short of what it takes to start a handler.
struct HandlerShortage: Sendable {
    /// No more calls than this may run at once: as many as had their handlers when another one could not be started.
    var places: Int
    /// When as many as ever are tried again or, once they are, the shortage is over unless it shows again.
    var over: MonotonicInstant
}

/// A handler that cannot be started is no failure of the message: the message keeps its place and its attempts, and
/// delivery goes on with as many handlers as the machine gives.
extension DeliveryMachine {
    /// How long no more handlers are tried, and how long they have to be had until the shortage is over.
    private static var pause: Duration { .seconds(1) }

    /// The handler of the call's message could not be started: the message is handed over again.
    mutating func postpone(_ call: DeliveryCall<Message>, _ reason: String, now: MonotonicInstant) {
        if self.shortage == nil { self.output.stalls.append(.noHandler(reason)) }
        // This call still holds its place.
        let others = self.calls.count - 1
        self.shortage = HandlerShortage(places: min(self.shortage?.places ?? others, others), over: now + Self.pause)
        var entry = call.current
        if entry.attempts == 0 { entry.firstStart = nil }
        guard call.isAlone else { return self.comeBack(entry) }
        // It has not run: this attempt is taken back.
        self.output.changes.append(self.change(entry, .inHand))
        guard !self.isDraining, self.intakes[entry.message.installation] != nil else {
            self.present.remove(entry.message.key)
            return
        }
        entry.isSuspect = true
        self.suspects.insert(entry) { $0.message.sequence > entry.message.sequence }
    }

    /// Has more handlers tried when the pause is over, and ends the shortage when none was refused for as long again.
    mutating func lookAtShortage(_ now: MonotonicInstant) {
        guard let shortage, shortage.over <= now else { return }
        if shortage.places < .max {
            self.shortage = HandlerShortage(places: .max, over: now + Self.pause)
        } else {
            self.shortage = nil
            self.output.stalls.append(nil)
        }
    }
}
