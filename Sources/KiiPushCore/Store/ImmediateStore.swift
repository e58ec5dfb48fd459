/// A store that answers within the call.
package protocol ImmediateStore: Store {
    var ledger: MessageLedger { get }
    func installation(id: String, of owner: InboxOwner?) throws(InboxError) -> Int64
    func unproven(installation: Int64) throws(InboxError) -> [UnprovenRow]
    func deadLetters(after sequence: Int64, limit: Int) throws(InboxError) -> [MessageRecord]
    func presented(installation: Int64, after sequence: Int64, limit: Int) throws(InboxError) -> [StoredMessage]
    func standing(of sequence: Int64) throws(InboxError) -> MessageStanding?
    func requeue(_ sequence: Int64, at now: Timestamp) throws(InboxError) -> Int64?
    func drop(_ sequence: Int64) throws(InboxError)
    func takeOver(_ installation: Int64, besides isRunning: (Int64) -> Bool) throws(InboxError) -> [Adoption]
    func adopt(_ formerID: String, by installationID: String) throws(InboxError) -> Adoption?
}

extension ImmediateStore {
    package var ledger: MessageLedger { MessageLedger() }
    package func unproven(installation: Int64) throws(InboxError) -> [UnprovenRow] { [] }
    package func deadLetters(after sequence: Int64, limit: Int) throws(InboxError) -> [MessageRecord] { [] }
    package func presented(
        installation: Int64, after sequence: Int64, limit: Int
    ) throws(InboxError) -> [StoredMessage] { [] }
    package func standing(of sequence: Int64) throws(InboxError) -> MessageStanding? { nil }
    package func requeue(_ sequence: Int64, at now: Timestamp) throws(InboxError) -> Int64? { nil }
    package func drop(_ sequence: Int64) throws(InboxError) {}
    package func takeOver(_ installation: Int64, besides isRunning: (Int64) -> Bool) throws(InboxError) -> [Adoption] {
        []
    }
    package func adopt(_ formerID: String, by installationID: String) throws(InboxError) -> Adoption? { nil }
}

// MARK: - The interface of any store

extension ImmediateStore {
    package func ledger(completion: @escaping StoreCompletion<MessageLedger>) { completion(.success(self.ledger)) }

    package func installation(
        id: String, of owner: InboxOwner?, agent: String, completion: @escaping StoreCompletion<Int64>
    ) {
        completion(Result { () throws(InboxError) in try self.installation(id: id, of: owner) })
    }

    package func unproven(installation: Int64, completion: @escaping StoreCompletion<[UnprovenRow]>) {
        completion(Result { () throws(InboxError) in try self.unproven(installation: installation) })
    }

    package func deadLetters(
        after sequence: Int64, limit: Int, completion: @escaping StoreCompletion<[MessageRecord]>
    ) {
        completion(Result { () throws(InboxError) in try self.deadLetters(after: sequence, limit: limit) })
    }

    package func presented(
        installation: Int64, after sequence: Int64, limit: Int, completion: @escaping StoreCompletion<[StoredMessage]>
    ) {
        completion(
            Result { () throws(InboxError) in
                try self.presented(installation: installation, after: sequence, limit: limit)
            })
    }

    package func standing(of sequence: Int64, completion: @escaping StoreCompletion<MessageStanding?>) {
        completion(Result { () throws(InboxError) in try self.standing(of: sequence) })
    }

    package func requeue(_ sequence: Int64, at now: Timestamp, completion: @escaping StoreCompletion<Int64?>) {
        completion(Result { () throws(InboxError) in try self.requeue(sequence, at: now) })
    }

    package func drop(_ sequence: Int64, completion: @escaping StoreCompletion<Void>) {
        completion(Result { () throws(InboxError) in try self.drop(sequence) })
    }

    package func takeOver(
        _ installation: Int64, besides isRunning: @escaping (Int64) -> Bool,
        completion: @escaping StoreCompletion<[Adoption]>
    ) {
        completion(Result { () throws(InboxError) in try self.takeOver(installation, besides: isRunning) })
    }

    package func adopt(
        _ formerID: String, by installationID: String, completion: @escaping StoreCompletion<Adoption?>
    ) {
        completion(Result { () throws(InboxError) in try self.adopt(formerID, by: installationID) })
    }
}
