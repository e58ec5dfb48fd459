import KiiPushCore

/// A message without a content.
struct TestMessage: Deliverable {
    var sequence: Int64
    var source = "a"
    var installation: Int64 = 1
    var attempts = 0
    var crashes = 0
    var wasInHand = false
    var pause: Duration?
    var isUserOpened = false
    var bytes = 0
}

extension TestMessage: ExpressibleByIntegerLiteral {
    init(integerLiteral value: Int64) { self.init(sequence: value) }
}

extension MonotonicInstant {
    /// Seconds on the tests' clock.
    static func seconds(_ seconds: Double) -> MonotonicInstant { .init(nanoseconds: Int64(seconds * 1_000_000_000)) }
}

/// A machine by reference, so that an expectation may change it, and what is said to it in short.
@dynamicMemberLookup
final class TestMachine {
    var machine: DeliveryMachine<TestMessage>
    /// Commitments that were taken from the machine and are still to be made.
    var held: [DeliveryOutput.Commitment] = []
    private var firstCalls: [Int64: Int] = [:]

    init(_ configuration: DeliveryConfiguration = .init()) {
        self.machine = DeliveryMachine(configuration: configuration)
    }

    /// A machine that has read everything that its store held, which was nothing.
    static func open(
        installations: [Int64] = [1], _ change: (inout DeliveryConfiguration) -> Void = { _ in }
    ) -> TestMachine {
        var configuration = DeliveryConfiguration()
        change(&configuration)
        let machine = TestMachine(configuration)
        for installation in installations { machine.machine.attached(installation) }
        machine.answerLoads()
        return machine
    }

    subscript<Value>(dynamicMember path: KeyPath<DeliveryMachine<TestMessage>, Value>) -> Value {
        self.machine[keyPath: path]
    }

    /// Answers every load that is asked for with an empty page.
    func answerLoads(at seconds: Double = 0) {
        while true {
            let loads = self.output().loads
            guard !loads.isEmpty else { return }
            for load in loads { self.load(load, [], isComplete: true, at: seconds) }
        }
    }

    func load(
        _ load: DeliveryLoad, _ messages: [TestMessage], isComplete: Bool, nextRetry: Duration? = nil,
        isFailure: Bool = false, at seconds: Double = 0
    ) {
        let stored = messages.map { message in
            StoredMessage(
                sequence: message.sequence, installation: message.installation, topic: "t", payload: [],
                receivedAt: .at(0))
        }
        let page = DeliveryPage(
            messages: stored, isComplete: isComplete, nextRetry: nextRetry, isFailure: isFailure)
        self.machine.loaded(load, page, messages: messages, now: .seconds(seconds))
    }

    func receive(_ messages: [TestMessage]) {
        self.machine.received(messages, releasing: 0, now: .seconds(0))
    }

    func claim(at seconds: Double) -> DeliveryClaim<TestMessage>? {
        let claim = self.machine.claim(now: .seconds(seconds))
        if let claim, let first = claim.messages.first, self.firstCalls[first.sequence] == nil {
            self.firstCalls[first.sequence] = claim.call
        }
        return claim
    }

    /// The sequences of the next claim.
    func claimed(_ seconds: Double) -> [Int64]? { self.claim(at: seconds)?.messages.map(\.sequence) }

    /// A handler that answers during its call, to the first message of the claim, and stops there.
    func answer(_ call: Int, _ verdict: HandlerVerdict, at seconds: Double) {
        self.end(call, [verdict], position: 0, at: seconds)
    }

    /// A thread that leaves its call.
    func end(
        _ call: Int, _ verdicts: [HandlerVerdict], position: Int, isUnanswered: Bool = false, at seconds: Double
    ) {
        let progress = DeliveryProgress.of(verdicts, position: position, startedAt: .seconds(seconds))
        self.machine.returned(call, progress, isUnanswered: isUnanswered, now: .seconds(seconds))
    }

    /// A handler that returns and has not answered.
    func leaveUnanswered(_ call: Int, at seconds: Double) {
        self.end(call, [], position: 0, isUnanswered: true, at: seconds)
    }

    /// A completion that is answered after its call: the message's first one, unless another is named.
    func answerLater(
        _ sequence: Int64, call: Int? = nil, _ verdict: HandlerVerdict, at seconds: Double
    ) -> Bool {
        let call = call ?? self.firstCalls[sequence] ?? 0
        return self.machine.answered(.init(sequence: sequence), call: call, verdict, now: .seconds(seconds))
    }

    func time(_ seconds: Double) { self.machine.timerFired(now: .seconds(seconds)) }

    /// Lets what has to be durable be durable; returns what that was.
    func commit() -> [DeliveryChange] {
        let commitments = self.held + self.output().commitments
        self.held = []
        for commitment in commitments { self.machine.committed(commitment.keys) }
        return commitments.flatMap(\.changes)
    }

    /// What is to be done, without when attempts ran: that has tests of its own.
    func output() -> DeliveryOutput {
        var output = self.machine.takeOutput()
        output.changes = output.changes.map(\.untimed)
        for index in output.commitments.indices {
            output.commitments[index].changes = output.commitments[index].changes.map(\.untimed)
        }
        return output
    }

    func changes() -> [DeliveryChange] { self.output().changes }
}

extension DeliveryProgress {
    static func of(_ verdicts: [HandlerVerdict], position: Int, startedAt: MonotonicInstant) -> DeliveryProgress {
        let answers = verdicts.enumerated().map { Answer(index: $0.offset, verdict: $0.element) }
        return DeliveryProgress(answers: answers, position: position, startedAt: startedAt)
    }
}

extension DeliveryChange {
    /// The change without when its attempt ran.
    var untimed: DeliveryChange {
        var change = self
        change.attempt = nil
        return change
    }

    static func change(
        _ sequence: Int64, _ verdict: Verdict, attempts: Int = 0, crashes: Int = 0
    ) -> DeliveryChange {
        DeliveryChange(sequence: sequence, installation: 1, verdict: verdict, attempts: attempts, crashes: crashes)
    }
}
