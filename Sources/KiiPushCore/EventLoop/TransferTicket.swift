import Synchronization

/// One caller's claim on one transfer, known to the calling task and to the loop.
final class TransferTicket: Sendable {
    typealias Continuation = CheckedContinuation<HTTPResponse, any Error>

    // A cancellation that overtakes the start would find no transfer yet; it leaves word here.
    private let wasCancelled = Atomic<Bool>(false)

    var isCancelled: Bool { self.wasCancelled.load(ordering: .acquiring) }

    func cancel() { self.wasCancelled.store(true, ordering: .releasing) }
}
