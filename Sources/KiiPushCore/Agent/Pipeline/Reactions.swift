/// Passes users' reactions to notifications to the pipeline. Any thread.
final class Reactions: ReactionTaker {
    private let loop: EventLoop
    private let pipeline: LoopIsolated<Pipeline>

    init(_ pipeline: LoopIsolated<Pipeline>, on loop: EventLoop) {
        self.pipeline = pipeline
        self.loop = loop
    }

    func opened(_ opening: DeliveryOpening) -> Bool {
        // The opening causes a new attempt. An answer to an earlier attempt must not end the message meanwhile.
        self.tell(closing: opening.message.sequence) { $0.opened(opening) }
    }

    func dismissed(_ sequence: Int64, installation: Int64) -> Bool {
        self.tell { $0.dismissed(sequence, installation: installation) }
    }

    func withdrawn(_ sequence: Int64, installation: Int64) -> Bool {
        self.tell { $0.withdrawn(sequence, installation: installation) }
    }

    private func tell(closing sequence: Int64? = nil, _ body: @escaping @Sendable (inout Scheduler) -> Void) -> Bool {
        self.loop.submit { [pipeline = self.pipeline] in
            let pipeline = pipeline.value
            pipeline.collectAnswers(closing: sequence)
            body(&pipeline.scheduler)
        }
    }
}
