package import KiiPushCore

/// Which messages wait, which are on their way and which sends are done. Pure: time comes as an argument.
///
/// A job is one send to any number of recipients: done when the broker has acknowledged each message.
package struct PublishQueue {
    private struct Item {
        var job: UInt64
        var sequence: UInt64
        var publication: Publication
    }

    private struct Job {
        var remaining: Int
        var deadline: MonotonicInstant
    }

    private let window: Int
    private var jobs: [UInt64: Job] = [:]
    private var waiting: [Item] = []
    private var firstWaiting = 0
    private var inFlight: [UInt16: Item] = [:]
    private var nextPacketID: UInt16 = 1
    private var nextSequence: UInt64 = 0

    /// - Parameter window: how many messages may be unacknowledged.
    package init(window: Int = 1000) { self.window = window }

    package var isEmpty: Bool { self.jobs.isEmpty }

    /// When the next job runs out of time.
    package var nextDeadline: MonotonicInstant? { self.jobs.values.lazy.map { $0.deadline }.min() }

    package mutating func add(job: UInt64, _ publications: [Publication], deadline: MonotonicInstant) {
        self.jobs[job] = Job(remaining: publications.count, deadline: deadline)
        for publication in publications {
            self.waiting.append(Item(job: job, sequence: self.nextSequence, publication: publication))
            self.nextSequence += 1
        }
    }

    /// The next messages to send, as many as the window has room for.
    package mutating func takeMessages() -> [MQTTPublish] {
        var messages: [MQTTPublish] = []
        while self.firstWaiting < self.waiting.count, self.inFlight.count < self.window {
            let item = self.waiting[self.firstWaiting]
            self.firstWaiting += 1
            // What ran out of time before it was sent is not sent any more.
            guard self.jobs[item.job] != nil else { continue }
            let packetID = self.freePacketID()
            self.inFlight[packetID] = item
            let (topic, payload) = (item.publication.topic, item.publication.payload)
            messages.append(MQTTPublish(topic: topic, payload: payload, qos: .atLeastOnce, packetID: packetID))
        }
        // What was taken is let go in pieces as large as what stays, so that each message moves once at most.
        if self.firstWaiting >= self.waiting.count - self.firstWaiting {
            self.waiting.removeFirst(self.firstWaiting)
            self.firstWaiting = 0
        }
        return messages
    }

    /// Returns the job that this acknowledgement completes.
    package mutating func acknowledged(packetID: UInt16) -> UInt64? {
        guard let item = self.inFlight.removeValue(forKey: packetID), var job = self.jobs[item.job] else { return nil }
        job.remaining -= 1
        self.jobs[item.job] = job.remaining == 0 ? nil : job
        return job.remaining == 0 ? item.job : nil
    }

    /// Puts what was not acknowledged back to the front: it is sent again, at least once.
    package mutating func connectionLost() {
        let unacknowledged = self.inFlight.values.sorted { $0.sequence < $1.sequence }
        self.waiting = unacknowledged + self.waiting[self.firstWaiting...]
        self.firstWaiting = 0
        self.inFlight = [:]
    }

    /// Gives up the jobs whose time has come and returns them.
    package mutating func expire(now: MonotonicInstant) -> [UInt64] {
        guard !self.jobs.isEmpty else { return [] }
        let expired = self.jobs.filter { $0.value.deadline <= now }.map { $0.key }
        for job in expired { self.jobs[job] = nil }
        return expired
    }

    private mutating func freePacketID() -> UInt16 {
        // The window is far smaller than the number of identifiers, so there is a free one.
        while self.inFlight[self.nextPacketID] != nil || self.nextPacketID == 0 { self.nextPacketID &+= 1 }
        defer { self.nextPacketID &+= 1 }
        return self.nextPacketID
    }
}
