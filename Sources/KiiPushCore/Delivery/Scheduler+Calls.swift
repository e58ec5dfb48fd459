extension Scheduler {
    /// At most this many calls wait for a free worker, so that no worker waits for the loop's thread.
    static var prefetched: Int { 64 }

    /// Called after events, and again after the pipeline has carried out cuts and calls.
    package mutating func settle(at now: MonotonicInstant) {
        self.now = max(self.now, now)
        // The calls in `cuts` first return the messages that they have not started.
        guard self.output.cuts.isEmpty else { return }
        self.trim()
        self.beginAloneRun()
        self.claim()
        self.handOut()
        // The first message of a queue may have to run alone now.
        if self.output.calls.isEmpty { self.beginAloneRun() }
        if self.losesPlaces { self.regainPlaces() }
    }

    private var mayStart: Bool {
        if !self.isDraining, !self.isStoreFailing, case .none = self.alone { true } else { false }
    }

    private mutating func handOut() {
        guard self.mayStart, self.suspects.isEmpty, (self.shortage?.places ?? 1) > 0 else { return }
        let limit = max(1, self.configuration.concurrentHandlers) + Self.prefetched
        while self.handedOut < limit, let place = self.ready.popFirst() {
            self.sources[place].isReady = false
            guard self.sources[place].mayStart else {
                self.tidy(place)
                continue
            }
            if self.isolatesFirst(at: place) { return }
            self.handOut(self.takeBatch(at: place), at: place, isAlone: false)
        }
    }

    private mutating func isolatesFirst(at place: Int) -> Bool {
        guard !self.heldSuspects.isEmpty, let first = self.sources[place].queue.first,
            self.heldSuspects.remove(first.sequence) != nil
        else { return false }
        _ = self.sources[place].queue.popFirst()
        self.insertSuspect(first, at: place)
        return true
    }

    private static var longestBatch: Int { 1024 }

    /// Takes messages up to the first one that must wait. A message with a time limit of its own begins a new call.
    private mutating func takeBatch(at place: Int) -> [QueuedMessage] {
        let (blocker, all) = (self.sources[place].blockers.first, self.sources[place].queue.count)
        var messages: [QueuedMessage] = []
        messages.reserveCapacity(min(all, self.batch))
        let held = self.heldSuspects
        while messages.count < self.batch,
            let message = self.sources[place].queue.popFirst(where: {
                $0.sequence < blocker ?? .max && !held.contains($0.sequence)
            })
        {
            messages.append(message)
            if self.sources[place].queue.first?.hasOwnLimit == true { break }
        }
        return messages
    }

    private mutating func handOut(_ messages: [QueuedMessage], at place: Int, isAlone: Bool) {
        self.lastCall += 1
        let slot = self.freeSlots.popLast() ?? self.calls.count
        if slot == self.calls.count { self.calls.append(nil) }
        let call = CallRecord(
            id: CallID(slot: slot, number: self.lastCall), place: place, messages: messages, isAlone: isAlone,
            startedAt: self.now)
        self.calls[slot] = call
        self.sources[place].call = slot
        self.handedOut += 1
        if isAlone { self.alone = .running(slot) }
        self.awaitDeadline(of: call)
        self.output.calls.append(
            DeliveryCall(id: call.id, installation: self.sources[place].id.installation, messages: messages))
    }

    private mutating func beginAloneRun() {
        guard self.mayStart, !self.suspects.isEmpty, self.shortage?.places != 0 else { return }
        guard self.handedOut == 0 else { return self.cutCalls() }
        while let message = self.suspects.popFirst() {
            guard let place = self.place(of: message.source) else { continue }
            // An earlier message may have failed when it ran alone, and may now wait for its retry.
            if self.isHeldBack(message.sequence, at: place) {
                self.sources[place].arriving -= 1
                self.heldSuspects.insert(message.sequence)
                self.enqueue(message, at: place)
                continue
            }
            self.alone = .committing(message)
            self.change(message, .inHand, attempts: 1, crashes: 1, attempt: .init(number: message.attempts + 1))
            return
        }
    }

    mutating func cutCalls() {
        for case let call? in self.calls where call.isCuttable { self.output.cuts.append(call.id) }
    }

    func isHeldBack(_ sequence: Int64, at place: Int) -> Bool {
        guard self.configuration.isStrictlyOrdered else { return false }
        let first = [self.sources[place].blockers.first, self.sources[place].queue.first?.sequence]
        return first.contains { $0 ?? .max < sequence }
    }

    package mutating func committed(_ changes: [MessageChange], refusals: [Int64: AnswerRefusal] = [:]) {
        if !self.uncommitted.isEmpty { self.conclude(changes, refusals) }
        if !self.finished.isEmpty {
            for case (let sequence, .done) in changes.lazy.map({ ($0.sequence, $0.verdict) }) {
                self.finished.remove(sequence)
            }
        }
        guard case .committing(let message) = self.alone, let place = self.place(of: message.source),
            changes.contains(where: { $0.sequence == message.sequence && $0.verdict == .inHand })
        else { return }
        self.sources[place].arriving -= 1
        self.alone = .none
        if self.isServed(message.installation) { self.handOut([message], at: place, isAlone: true) }
    }

    package mutating func started(_ id: CallID, position: Int, at now: MonotonicInstant) {
        guard let call = self.record(id), position > call.position, position < call.messages.count else { return }
        self.calls[id.slot]?.position = position
        self.calls[id.slot]?.startedAt = now
        self.calls[id.slot]?.isOver = false
        self.begun(call.messages[position])
        // This message's time may be over before that of any other call.
        if call.messages[position].hasOwnLimit { self.awaitDeadline(of: id) }
    }

    /// Sets no deadline: only the first message of a call may have its own time limit.
    mutating func begun(_ message: QueuedMessage) { self.note(.started(attempt: message.attempts + 1), message) }

    /// `position` is the last message that began, -1 for none. If `isUnanswered`, the handler has returned, and may
    /// still answer.
    package mutating func ended(_ id: CallID, position: Int, startedAt: MonotonicInstant, isUnanswered: Bool) {
        guard let call = self.record(id) else { return }
        self.started(id, position: position, at: startedAt)
        if !call.isCut {
            let isQuick = position + 1 >= call.messages.count && !isUnanswered
            self.batch = isQuick ? min(self.batch * 2, Self.longestBatch) : max(self.batch / 2, 1)
        }
        self.takeBack(id.slot)
        // Set even if the attempt is over: the handler may return just before the loop's thread ends the attempt.
        self.calls[id.slot]?.hasReturned = isUnanswered
        if !isUnanswered || self.calls[id.slot]?.isOver == true { self.free(id.slot) }
    }

    package mutating func left(_ id: CallID, position: Int, startedAt: MonotonicInstant) {
        if let call = self.record(id), position + 1 < call.messages.count { self.batch = max(self.batch / 2, 1) }
        self.cut(id, position: position, startedAt: startedAt)
    }

    package mutating func cut(_ id: CallID, position: Int, startedAt: MonotonicInstant) {
        guard self.record(id) != nil else { return }
        self.started(id, position: position, at: startedAt)
        self.takeBack(id.slot)
    }

    package mutating func recalled(_ id: CallID) {
        guard self.record(id) != nil else { return }
        self.takeBack(id.slot)
        self.free(id.slot)
    }

    func isServed(_ installation: Int64) -> Bool { !self.isDraining && self.intakes[installation] != nil }

    func record(_ id: CallID) -> CallRecord? {
        guard self.calls.indices.contains(id.slot), let call = self.calls[id.slot], call.id == id else { return nil }
        return call
    }

    func isCalled(_ sequence: Int64) -> Bool { self.call(with: sequence) != nil }

    func call(with sequence: Int64) -> CallRecord? {
        for case let call? in self.calls {
            guard let index = call.messages.lastIndex(where: { $0.sequence == sequence }) else { continue }
            if index > call.position || (index == call.position && !call.isOver) { return call }
        }
        return nil
    }

    mutating func takeBack(_ slot: Int) {
        guard let call = self.calls[slot], !call.isCut else { return }
        self.calls[slot]?.isCut = true
        let first = call.position + 1
        guard first < call.messages.count else { return }
        self.calls[slot]?.messages.removeSubrange(first...)
        for message in call.messages[first...].reversed() { self.requeue(message, of: call) }
    }

    mutating func requeue(_ message: QueuedMessage, of call: CallRecord) {
        if call.isAlone { self.suspectAgain(message, at: call.place) } else { self.requeue(message, at: call.place) }
    }

    mutating func requeue(_ message: QueuedMessage, at place: Int) {
        if self.finished.remove(message.sequence) != nil { return self.unweigh(message.bytes, at: place) }
        let isLeft = !self.isServed(message.installation)
        // If the source has messages of an ended process, this message stays in memory: in the store it would follow
        // them.
        let blocker = self.sources[place].blockers.first ?? .max
        // A message whose answer the store is writing holds back others only briefly.
        let isBlocked = blocker < message.sequence && self.uncommitted[blocker] == nil && !self.hasSuspects(place)
        if isLeft, self.sources[place].staysInHand { return self.unweigh(message.bytes, at: place) }
        guard !isLeft, !isBlocked, self.reactions[message.sequence] == nil else {
            return self.unclaim([message], at: place)
        }
        self.enqueue(message, at: place)
    }

    /// The message was to run alone, and its handler was not called. It must still run alone.
    mutating func suspectAgain(_ message: QueuedMessage, at place: Int) {
        if self.finished.remove(message.sequence) != nil { return self.unweigh(message.bytes, at: place) }
        self.change(message, .inHand)
        guard self.isServed(message.installation) else { return self.unweigh(message.bytes, at: place) }
        self.insertSuspect(message, at: place)
    }

    private mutating func insertSuspect(_ message: QueuedMessage, at place: Int) {
        self.sources[place].arriving += 1
        self.suspects.insert(message) { $0.sequence > message.sequence }
    }

    mutating func free(_ slot: Int) {
        guard let call = self.calls[slot] else { return }
        self.calls[slot] = nil
        self.freeSlots.append(slot)
        if call.hasReturned { self.output.freedPlaces += 1 }
        if case .running(slot) = self.alone { self.alone = .none }
        if call.isStuck { self.stuckCount -= 1 } else { self.release(slot, at: call.place) }
    }

    mutating func release(_ slot: Int, at place: Int) {
        self.handedOut -= 1
        if self.sources[place].call == slot {
            self.sources[place].call = nil
            self.sources[place].staysInHand = false
        }
        self.makeReady(place)
        self.queueSourceClaim(place)
        self.tidy(place)
    }
}
