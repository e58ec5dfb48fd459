// Without `@testable`: this shows that another target of the package can implement a store.
import KiiPushCore

/// Runs its steps one by one when the test says so, like a remote store.
final class HeldStore: Store {
    private let store: any Store
    /// Whether steps wait for ``step()``.
    var isHolding = false
    /// Whether something was noted that no commit contains.
    var hasMoreToWrite = false
    private var steps: [() -> Void] = []
    private let asked: () -> Void

    init(_ store: any Store, asked: @escaping () -> Void = {}) { (self.store, self.asked) = (store, asked) }

    private func pass(_ body: @escaping () -> Void) {
        guard self.isHolding else { return body() }
        self.steps.append(body)
        self.asked()
    }

    var waiting: Int { self.steps.count }

    func step() { self.steps.removeFirst()() }

    func release() {
        while !self.steps.isEmpty { self.step() }
        self.isHolding = false
    }

    // MARK: - Store

    var isDurable: Bool { self.store.isDurable }
    var pendingBytes: Int64 { self.store.pendingBytes }
    var ledger: MessageLedger { self.store.ledger }

    func ledger(completion: @escaping StoreCompletion<MessageLedger>) {
        self.pass { self.store.ledger(completion: completion) }
    }

    func close() {
        self.steps = []
        self.store.close()
    }

    func commit(_ turn: Turn, completion: @escaping StoreCompletion<TurnOutcome>) {
        self.pass { self.store.commit(turn, completion: completion) }
    }

    func installation(
        id: String, of owner: InboxOwner?, agent: String, completion: @escaping StoreCompletion<Int64>
    ) {
        self.pass { self.store.installation(id: id, of: owner, agent: agent, completion: completion) }
    }

    func unproven(installation: Int64, completion: @escaping StoreCompletion<[UnprovenRow]>) {
        self.pass { self.store.unproven(installation: installation, completion: completion) }
    }

    func deadLetters(after sequence: Int64, limit: Int, completion: @escaping StoreCompletion<[MessageRecord]>) {
        self.pass { self.store.deadLetters(after: sequence, limit: limit, completion: completion) }
    }

    func presented(
        installation: Int64, after sequence: Int64, limit: Int, completion: @escaping StoreCompletion<[StoredMessage]>
    ) {
        self.pass {
            self.store.presented(installation: installation, after: sequence, limit: limit, completion: completion)
        }
    }

    func message(_ sequence: Int64, completion: @escaping StoreCompletion<StoredMessage?>) {
        self.pass { self.store.message(sequence, completion: completion) }
    }

    func requeue(_ sequence: Int64, at now: Timestamp, completion: @escaping StoreCompletion<Int64?>) {
        self.pass { self.store.requeue(sequence, at: now, completion: completion) }
    }

    func drop(_ sequence: Int64, completion: @escaping StoreCompletion<Void>) {
        self.pass { self.store.drop(sequence, completion: completion) }
    }

    func takeOver(
        _ installation: Int64, besides isRunning: @escaping (Int64) -> Bool,
        completion: @escaping StoreCompletion<[Adoption]>
    ) {
        self.pass { self.store.takeOver(installation, besides: isRunning, completion: completion) }
    }

    func adopt(_ formerID: String, by installationID: String, completion: @escaping StoreCompletion<Adoption?>) {
        self.pass { self.store.adopt(formerID, by: installationID, completion: completion) }
    }
}
