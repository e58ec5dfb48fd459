import KiiPushCore

final class Publisher: Sendable {
    private struct Job: Sendable {
        let publications: [MQTTPublish]
        let completion: @Sendable (Bool) -> Void
    }

    private let thread = PollThread<Job>(name: "kii-publisher")

    init(port: UInt16, credential: BrokerCredential, patience: Duration) throws(EmulatorError) {
        try self.thread.run { Loop(port: port, credential: credential, patience: patience) }
    }

    /// Calls `completion` once, usually on another thread: with `true` when the broker has acknowledged all messages,
    /// with `false` after a timeout or ``stop()``. After `false`, the broker may still deliver some messages.
    func publish(_ publications: [MQTTPublish], completion: @escaping @Sendable (Bool) -> Void) {
        guard !publications.isEmpty else { return completion(true) }
        if !self.thread.send(Job(publications: publications, completion: completion)) { completion(false) }
    }

    func stop() {
        self.thread.stop()
        self.thread.join()
    }

    private struct Loop: PollLoop {
        private static let reconnectDelay = Duration.milliseconds(50)
        private static let loginPatience = Duration.seconds(1)

        let port: UInt16
        let credential: BrokerCredential
        let patience: Duration
        var queue = PublishQueue()
        var completions: [UInt64: @Sendable (Bool) -> Void] = [:]
        var nextJob: UInt64 = 0
        var connection: BrokerConnection?
        var nextAttempt = MonotonicInstant.now()

        mutating func turn(_ jobs: [Job], readable: Set<Int32>) -> PollWait? {
            self.receive()
            let now = MonotonicInstant.now()
            for job in jobs {
                self.queue.add(job: self.nextJob, job.publications, deadline: now + self.patience)
                self.completions[self.nextJob] = job.completion
                self.nextJob += 1
            }
            for job in self.queue.expire(now: now) { self.finish(job, false) }
            self.connectIfNeeded(now: now)
            self.send()
            var wait = PollWait(until: self.queue.nextDeadline)
            if let connection = self.connection {
                wait.watch(connection.descriptor, writing: connection.hasUnsentBytes)
            } else {
                wait.wake(at: self.nextAttempt)
            }
            return wait
        }

        func end(_ unread: [Job]) {
            for completion in self.completions.values { completion(false) }
            for job in unread { job.completion(false) }
            _ = self.connection?.send(.disconnect)
        }

        private mutating func connectIfNeeded(now: MonotonicInstant) {
            guard self.connection == nil, self.nextAttempt <= now else { return }
            // After any failure, the loop retries after a pause.
            let name = self.credential.username
            self.connection =
                (try? BrokerConnection.open(
                    port: self.port, credential: self.credential, clientID: name, patience: Loop.loginPatience)) ?? nil
            self.nextAttempt = .now() + Loop.reconnectDelay
        }

        private mutating func send() {
            guard let connection = self.connection else { return }
            var bytes: [UInt8] = []
            for message in self.queue.takeMessages() {
                // Encoding cannot fail for the emulator's topics and packet identifiers.
                try? MQTTPacket.publish(message).encode(into: &bytes)
            }
            if !connection.send(bytes) { self.lose() }
        }

        private mutating func receive() {
            guard let connection = self.connection else { return }
            var acknowledged: [UInt16] = []
            let isOpen = connection.receive { packet in
                if case .puback(let packetID) = packet { acknowledged.append(packetID) }
            }
            for packetID in acknowledged {
                if let job = self.queue.acknowledged(packetID: packetID) { self.finish(job, true) }
            }
            if !isOpen { self.lose() }
        }

        private mutating func lose() {
            self.connection = nil
            self.queue.connectionLost()
        }

        private mutating func finish(_ job: UInt64, _ isAcknowledged: Bool) {
            self.completions.removeValue(forKey: job)?(isAcknowledged)
        }
    }
}
