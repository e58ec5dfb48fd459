package import KiiPushCore

/// The messages that are not sent or not acknowledged yet. A job is one send to any number of recipients.
package struct PublishQueue {
    private struct Item {
        var job: UInt64
        var sequence: UInt64
        var publication: MQTTPublish
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

    package init(window: Int = 1000) { self.window = window }

    package var isEmpty: Bool { self.jobs.isEmpty }

    package var nextDeadline: MonotonicInstant? { self.jobs.values.lazy.map { $0.deadline }.min() }

    package mutating func add(job: UInt64, _ publications: [MQTTPublish], deadline: MonotonicInstant) {
        self.jobs[job] = Job(remaining: publications.count, deadline: deadline)
        for publication in publications {
            self.waiting.append(Item(job: job, sequence: self.nextSequence, publication: publication))
            self.nextSequence += 1
        }
    }

    /// The next messages, with QoS 1 and their packet identifiers.
    package mutating func takeMessages() -> [MQTTPublish] {
        var messages: [MQTTPublish] = []
        while self.firstWaiting < self.waiting.count, self.inFlight.count < self.window {
            let item = self.waiting[self.firstWaiting]
            self.firstWaiting += 1
            // Skips the messages of expired jobs.
            guard self.jobs[item.job] != nil else { continue }
            let packetID = self.freePacketID()
            self.inFlight[packetID] = item
            var message = item.publication
            message.qos = .atLeastOnce
            message.packetID = packetID
            messages.append(message)
        }
        // Sent messages leave the array when they are at least as many as the rest. So a removal never moves more
        // messages than it removes.
        if self.firstWaiting >= self.waiting.count - self.firstWaiting {
            self.waiting.removeFirst(self.firstWaiting)
            self.firstWaiting = 0
        }
        return messages
    }

    package mutating func acknowledged(packetID: UInt16) -> UInt64? {
        guard let item = self.inFlight.removeValue(forKey: packetID), var job = self.jobs[item.job] else { return nil }
        job.remaining -= 1
        self.jobs[item.job] = job.remaining == 0 ? nil : job
        return job.remaining == 0 ? item.job : nil
    }

    /// Queues the unacknowledged messages again, before all others.
    package mutating func connectionLost() {
        let unacknowledged = self.inFlight.values.sorted { $0.sequence < $1.sequence }
        self.waiting = unacknowledged + self.waiting[self.firstWaiting...]
        self.firstWaiting = 0
        self.inFlight = [:]
    }

    package mutating func expire(now: MonotonicInstant) -> [UInt64] {
        guard !self.jobs.isEmpty else { return [] }
        let expired = self.jobs.filter { $0.value.deadline <= now }.map { $0.key }
        for job in expired { self.jobs[job] = nil }
        return expired
    }

    private mutating func freePacketID() -> UInt16 {
        // Fewer messages are in flight than there are packet identifiers, so one identifier is free.
        while self.inFlight[self.nextPacketID] != nil || self.nextPacketID == 0 { self.nextPacketID &+= 1 }
        defer { self.nextPacketID &+= 1 }
        return self.nextPacketID
    }
}
