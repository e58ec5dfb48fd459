import KiiPushCore

/// Stands in for delivery's threads: as many workers as there would be threads, which take their steps one at a time, in an
/// order and at times that follow from a seed. The one part of the simulation that knows how delivery works inside.
final class Workforce {
    private final class Place {
        let worker: Worker
        var isBusy = false

        init(_ workers: Workers) { self.worker = workers.makeWorker() }
    }

    private let timeline: Timeline
    private var dice: Dice
    private var places: [Place] = []
    private var isStepPlanned = false
    private var pipeline: Pipeline?
    /// A dead process takes no steps.
    var isDead = false
    /// How long the call that has just returned is to seem to have taken.
    var callTakes = Duration.zero

    init(_ timeline: Timeline, dice: Dice) {
        self.timeline = timeline
        self.dice = dice
    }

    func begin(_ pipeline: Pipeline) { self.pipeline = pipeline }

    func die() { self.isDead = true }

    /// No answer counts from now on.
    func shutdown() { self.pipeline?.workers.shutdown() }

    /// Lets go of delivery, which keeps a call for as long as it has not returned.
    func release() {
        for place in self.places { while place.worker.hasCall { place.worker.callReturned() } }
        self.places = []
        self.pipeline = nil
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
        guard let pipeline, !self.isDead else { return }
        while self.places.count < pipeline.scheduler.runningLimit { self.places.append(Place(pipeline.workers)) }
        let free = self.places.prefix(pipeline.scheduler.runningLimit).filter { !$0.isBusy }.shuffled(using: &self.dice)
        for place in free where !self.isDead && place.worker.takeCall() {
            if place.worker.hasCall { self.call(place) }
            // Another one may be there; somebody takes it in a while.
            self.wake()
        }
    }

    private func call(_ place: Place) {
        place.isBusy = true
        while !self.isDead, place.worker.hasCall {
            self.callTakes = .zero
            _ = place.worker.makeCall()
            guard !self.isDead else { return }
            guard self.callTakes == .zero else {
                return self.timeline.after(self.callTakes) { [weak self] in
                    guard let self, !self.isDead else { return }
                    place.worker.callReturned()
                    self.call(place)
                }
            }
            place.worker.callReturned()
        }
        place.isBusy = false
        self.wake()
    }
}
