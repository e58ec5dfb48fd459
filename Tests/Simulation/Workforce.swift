import KiiPushCore

/// Stands in for delivery's threads: as many workers as there would be threads, which take their steps one at a time, in an
/// order and at times that follow from a seed. The one part of the simulation that knows how delivery works inside.
final class Workforce {
    private final class Place {
        let worker: DeliveryWorker
        var isBusy = false

        init(_ runner: DeliveryRunner) { self.worker = DeliveryWorker(runner) }
    }

    private let timeline: Timeline
    private var dice: Dice
    private var places: [Place] = []
    private var isStepPlanned = false
    private var wakesAt: MonotonicInstant?
    private(set) var runner: DeliveryRunner?
    /// A dead process takes no steps.
    var isDead = false
    /// How long the call that has just returned is to seem to have taken.
    var callTakes = Duration.zero

    init(_ timeline: Timeline, dice: Dice) {
        self.timeline = timeline
        self.dice = dice
    }

    func begin(_ runner: DeliveryRunner) { self.runner = runner }

    func die() { self.isDead = true }

    /// Lets go of delivery, which keeps a call for as long as it has not returned.
    func release() {
        for place in self.places { while place.worker.hasCall { place.worker.callReturned() } }
        self.places = []
        self.runner = nil
    }

    /// There may be something to do.
    func wake() {
        guard !self.isDead, !self.isStepPlanned else { return }
        self.isStepPlanned = true
        let pause = self.dice.milliseconds(0...(self.dice.percent(5) ? 20 : 1))
        self.timeline.after(pause) { [weak self] in
            guard let self else { return }
            self.isStepPlanned = false
            self.step()
        }
    }

    private func step() {
        guard let runner, !self.isDead else { return }
        while self.places.count < runner.workerLimit { self.places.append(Place(runner)) }
        let free = self.places.prefix(runner.workerLimit).filter { !$0.isBusy }.shuffled(using: &self.dice)
        for place in free where !self.isDead && place.worker.takeJob() {
            if place.worker.hasCall { self.call(place) }
            // Another one may be there; somebody takes it in a while.
            self.wake()
        }
        self.keepTime()
    }

    private func call(_ place: Place) {
        place.isBusy = true
        while !self.isDead, place.worker.hasCall {
            self.callTakes = .zero
            _ = place.worker.call()
            guard !self.isDead else { return }
            guard self.callTakes == .zero else {
                return self.timeline.after(self.callTakes) { [weak self] in
                    guard let self, !self.isDead else { return }
                    place.worker.callReturned()
                    self.call(place)
                    self.keepTime()
                }
            }
            place.worker.callReturned()
        }
        place.isBusy = false
        self.wake()
    }

    /// Does what delivery's timer does.
    private func keepTime() {
        guard !self.isDead, let due = self.runner?.nextDeadline, self.wakesAt.map({ due < $0 }) ?? true else { return }
        self.wakesAt = due
        self.timeline.at(due + self.dice.milliseconds(0...1)) { [weak self] in
            guard let self, self.wakesAt == due else { return }
            self.wakesAt = nil
            guard !self.isDead else { return }
            self.runner?.timeChanged()
            self.keepTime()
        }
    }
}
