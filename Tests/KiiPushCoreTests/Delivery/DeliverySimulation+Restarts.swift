import KiiPushCore

extension DeliverySimulation {
    /// The messages that handlers left to a later run.
    struct Shelf {
        /// Whether they do so now.
        var isOpen = false
        /// Those that are not to be handed to anybody before their installation is attached anew.
        var now: Set<Int64> = []
        var ever: Set<Int64> = []
    }

    /// The process ends, and with it all that was not written; another one begins.
    mutating func restart() {
        self.machine = DeliveryMachine(configuration: self.machine.configuration)
        for installation in Self.installations { self.machine.attached(installation) }
        self.work = []
        self.inbound = []
        self.running = []
        self.overtaken = []
        self.user.restarted()
        self.shelf.now = []
        self.process += 1
        self.aloneCall = nil
        self.suspects = self.unfinished.filter { self.rows[$0] == .inHand }
        self.ended = Set(self.rows.keys).subtracting(self.unfinished)
    }

    /// The agent moves to another session, or somebody has a dead letter tried again.
    mutating func intervene() throws {
        let dead = self.rows.filter { $0.value == .dead }.keys.sorted().randomElement(using: &self.random)
        guard Bool.random(using: &self.random), let dead else {
            let installation = Int64.random(in: Self.installations, using: &self.random)
            return self.attachAnew(installation)
        }
        self.rows[dead] = .waiting
        self.attempts[dead] = 0
        self.crashes[dead] = 0
        self.unfinished.insert(dead)
        self.ended.remove(dead)
        self.triedAgain[dead] = Set(self.overtaken.filter { $0.key.sequence == dead }.map(\.call))
        try self.write { transaction throws(InboxError) in _ = try transaction.requeue(dead, at: .at(0)) }
        self.machine.requeued(dead, installation: self.messages[dead]?.installation ?? 0)
    }

    mutating func attachAnew(_ installation: Int64) {
        self.machine.detached(installation)
        self.collect()
        self.shelf.now = self.shelf.now.filter { self.messages[$0]?.installation != installation }
        self.machine.attached(installation)
    }

    /// A handler's answer, which counts.
    mutating func note(_ verdict: HandlerVerdict, _ message: TestMessage) {
        guard verdict == .setAside else { return }
        self.shelf.now.insert(message.sequence)
        self.shelf.ever.insert(message.sequence)
    }

    /// What has to hold whenever a handler is called.
    mutating func noteOrder(_ call: Running) {
        let message = call.messages[call.position]
        let others = self.running.filter { $0.call != call.call && self.machine.isRunning($0.call) }
        if let alone = self.aloneCall, alone != call.call, self.machine.isRunning(alone), !self.machine.isOver(alone) {
            self.violations.append("\(message.sequence) started beside one that runs alone")
        }
        if self.suspects.remove(message.sequence) != nil {
            self.aloneCall = call.call
            if !others.isEmpty { self.violations.append("\(message.sequence) is a suspect and did not run alone") }
            if self.rows[message.sequence] != .inHand {
                self.violations.append("\(message.sequence) is a suspect and was not durably in hand")
            }
        }
        // What is shown, or opened, goes its own way and holds nothing up.
        guard self.machine.configuration.isStrictlyOrdered, !message.isUserOpened else { return }
        let before = self.messages.values.filter { other in
            other.source == message.source && other.installation == message.installation
                && other.sequence < message.sequence
                && self.triedAgain[other.sequence] == nil && !self.shelf.ever.contains(other.sequence)
                && !self.ended.contains(other.sequence) && !self.user.shown.contains(other.sequence)
                && !call.messages[..<call.position].contains { $0.sequence == other.sequence }
        }
        if let other = before.first {
            self.violations.append("\(message.sequence) started before \(other.sequence) had ended")
        }
    }
}
