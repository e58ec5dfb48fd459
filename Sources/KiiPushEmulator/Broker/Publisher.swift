import Glibc
import KiiPushCore

/// The only client that may publish: takes what the cloud sends to the broker and says when the broker has it.
final class Publisher: Sendable {
    private enum Message: Sendable {
        case publish([Publication], @Sendable (Bool) -> Void)
        case stop
    }

    private let mailbox: Mailbox<Message>
    private let thread: OSThread

    /// - Parameter patience: how long the broker may take to acknowledge a send.
    init(port: UInt16, credential: BrokerCredential, patience: Duration) throws(EmulatorError) {
        let mailbox = try Mailbox<Message>()
        self.mailbox = mailbox
        self.thread = try OSThread(named: "kii-publisher") {
            var loop = Loop(port: port, credential: credential, patience: patience, mailbox: mailbox)
            loop.run()
        }
    }

    /// Sends all of `publications` and calls `completion` once, on another thread: with `true` when the broker has
    /// acknowledged each, with `false` when it did not in time. What it has got of them by then may still be delivered.
    func publish(_ publications: [Publication], completion: @escaping @Sendable (Bool) -> Void) {
        guard !publications.isEmpty else { return completion(true) }
        if !self.mailbox.post(.publish(publications, completion)) { completion(false) }
    }

    /// Gives up what is not acknowledged and ends the thread. Blocks for a moment. Called once: a second
    /// call would join a thread that is joined already, which is undefined.
    func stop() {
        _ = self.mailbox.post(.stop)
        self.thread.join()
    }

    /// What the thread owns.
    private struct Loop {
        private static let reconnectDelay = Duration.milliseconds(50)
        private static let loginPatience: Int32 = 1000

        let port: UInt16
        let credential: BrokerCredential
        let patience: Duration
        let mailbox: Mailbox<Message>
        var queue = PublishQueue()
        var completions: [UInt64: @Sendable (Bool) -> Void] = [:]
        var nextJob: UInt64 = 0
        var connection: BrokerConnection?
        var nextAttempt = MonotonicInstant.now()

        mutating func run() {
            while self.takeMessages() {
                let now = MonotonicInstant.now()
                for job in self.queue.expire(now: now) { self.finish(job, false) }
                self.connectIfNeeded(now: now)
                self.send()
                self.wait()
                self.receive()
            }
            for completion in self.completions.values { completion(false) }
            for case .publish(_, let completion) in self.mailbox.close() { completion(false) }
            _ = self.connection?.send(.disconnect)
        }

        /// Returns `false` when the loop is to end.
        private mutating func takeMessages() -> Bool {
            var isRunning = true
            for message in self.mailbox.takeAll() {
                switch message {
                case .publish(let publications, let completion):
                    let deadline = MonotonicInstant.now() + self.patience
                    self.queue.add(job: self.nextJob, publications, deadline: deadline)
                    self.completions[self.nextJob] = completion
                    self.nextJob += 1
                case .stop: isRunning = false
                }
            }
            return isRunning
        }

        private mutating func connectIfNeeded(now: MonotonicInstant) {
            guard self.connection == nil, self.nextAttempt <= now else { return }
            // Whatever is in the way (no socket, no broker, a refusal while it starts): try again in a moment.
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
                // The topic and the packet identifier are ours, so encoding cannot fail; were it to, the job expires.
                try? MQTTPacket.publish(message).encode(into: &bytes)
            }
            if !connection.send(bytes) { self.lose() }
        }

        private func wait() {
            var entries = [pollfd(fd: self.mailbox.descriptor, events: Int16(POLLIN), revents: 0)]
            var deadline = self.queue.nextDeadline
            if let connection = self.connection {
                let events = Int16(connection.hasUnsentBytes ? POLLIN | POLLOUT : POLLIN)
                entries.append(pollfd(fd: connection.descriptor, events: events, revents: 0))
            } else {
                deadline = min(deadline ?? self.nextAttempt, self.nextAttempt)
            }
            poll(&entries, nfds_t(entries.count), deadline?.millisecondsLeft ?? -1)
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
