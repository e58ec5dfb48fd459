package import KiiPushCore

/// The progress of a fault script. The caller reports events and times, and carries out the returned actions.
package struct FaultScriptRun: Sendable {
    package enum State: String, Sendable {
        case waiting, running, done
    }

    /// A step of one script. Reports about a step of an earlier script are ignored.
    package struct Place: Sendable, Hashable {
        package var script: Int
        package var step: Int
    }

    private enum Progress: Sendable {
        case waiting
        case answering
        /// The action waits for ``FaultPlayer``.
        case due
        /// ``FaultPlayer`` has received the action, which has not taken effect yet.
        case begun
        case inForce
    }

    package private(set) var steps: [FaultStep] = []
    package private(set) var place = Place(script: 0, step: 0)
    private(set) var hasNews = false
    private var progress = Progress.waiting
    /// The number of requests or messages before the step begins, or of requests that the step still answers.
    private var left = 0
    private(set) var due: Timestamp?
    private var problems: [Int: String] = [:]

    package init() {}

    /// `nil` when all steps are done, or without a script.
    var current: FaultStep? { self.steps.indices.contains(self.place.step) ? self.steps[self.place.step] : nil }

    var deed: (FaultStep.Deed, installation: String?)? { self.progress == .waiting ? nil : self.current?.deed }

    package func state(of step: Int) -> State {
        guard step == self.place.step else { return step < self.place.step ? .done : .waiting }
        return self.progress == .answering || self.progress == .inForce ? .running : .waiting
    }

    package func problem(of step: Int) -> String? { self.problems[step] }

    package mutating func play(_ script: FaultScript, now: Timestamp) {
        self.end()
        self.steps = script.steps
        self.wait(from: now)
    }

    package mutating func end() {
        let script = self.place.script + 1
        self = FaultScriptRun()
        self.place.script = script
        self.hasNews = true
    }

    // MARK: - Events

    /// Counts a request. Returns the current step's answer, if the step affects the request.
    ///
    /// - Parameter isMet: whether another fault already affects the request.
    package mutating func requestCame(
        method: String, path: [String], isMet: Bool = false, now: Timestamp
    ) -> FaultStep.Answer? {
        self.timePassed(until: now)
        switch (self.progress, self.current?.condition, self.current?.action) {
        case (.waiting, .requests(_, let pattern), _) where pattern.meets(method: method, path: path):
            if self.countDown() { self.begin(at: now) }
            return nil
        case (.answering, _, .requests(let answer, let extent, let pattern))
        where !isMet && pattern.meets(method: method, path: path):
            if case .requests = extent, self.countDown() { self.finish(at: now) }
            return answer
        default: return nil
        }
    }

    package mutating func messageTaken(for installation: String, now: Timestamp) {
        self.timePassed(until: now)
        guard self.progress == .waiting, case .messages(_, let meant) = self.current?.condition,
            meant == nil || meant == installation
        else { return }
        if self.countDown() { self.begin(at: now) }
    }

    /// Returns the action to carry out now. Each action is returned once.
    package mutating func takeDeed(now: Timestamp) -> (FaultStep.Deed, installation: String?)? {
        self.timePassed(until: now)
        self.hasNews = false
        guard self.progress == .due else { return nil }
        self.progress = .begun
        return self.current?.deed
    }

    package mutating func began(_ place: Place) {
        if place == self.place, self.progress == .begun { self.progress = .inForce }
    }

    /// - Parameter problem: the reason if the action had no effect.
    package mutating func ended(_ place: Place, problem: String? = nil, now: Timestamp) {
        guard place == self.place, self.progress == .begun || self.progress == .inForce else { return }
        self.problems[place.step] = problem
        self.finish(at: now)
    }

    // MARK: - Steps

    private mutating func timePassed(until now: Timestamp) {
        while let due = self.due, due <= now {
            if self.progress == .waiting { self.begin(at: due) } else { self.finish(at: due) }
        }
    }

    private mutating func countDown() -> Bool {
        self.left -= 1
        return self.left == 0
    }

    private mutating func wait(from now: Timestamp) {
        (self.progress, self.left, self.due, self.hasNews) = (.waiting, 0, nil, true)
        switch self.current?.condition {
        case .atOnce: self.begin(at: now)
        case .time(let time): self.due = now + time
        case .requests(let count, _), .messages(let count, _): self.left = count
        case nil: break
        }
    }

    private mutating func begin(at now: Timestamp) {
        (self.progress, self.left, self.due, self.hasNews) = (.due, 0, nil, true)
        guard case .requests(_, let extent, _) = self.current?.action else { return }
        self.progress = .answering
        switch extent {
        case .time(let time): self.due = now + time
        case .requests(let count): self.left = count
        }
    }

    private mutating func finish(at now: Timestamp) {
        self.place.step += 1
        self.wait(from: now)
    }
}
