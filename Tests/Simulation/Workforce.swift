import KiiPushCore

/// A replacement for the threads of delivery: has the same number of workers, which take their steps one at a time. The
/// seed decides order and time. No other part of the simulation knows the inside of delivery.
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
    var isDead = false
    /// Simulated duration of the call that has just returned.
    var callTakes = Duration.zero

    init(_ timeline: Timeline, dice: Dice) {
        self.timeline = timeline
        self.dice = dice
    }

    func begin(_ pipeline: Pipeline) { self.pipeline = pipeline }

    func die() { self.isDead = true }

    func shutdown() { self.pipeline?.workers.shutdown() }

    /// Releases delivery, which keeps each call until the call returns.
    func release() {
        for place in self.places { while place.worker.hasCall { place.worker.callReturned() } }
        self.places = []
        self.pipeline = nil
    }

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
