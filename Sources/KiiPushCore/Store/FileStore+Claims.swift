extension FileStore {
    func answer(
        _ claim: StoreClaim, of inbox: Inbox, in transaction: borrowing InboxTransaction, at now: Timestamp
    ) throws(InboxError) -> StoreAnswer {
        var answer = StoreAnswer()
        if case .sources(let after) = claim.kind {
            answer.sources =
                try self.read(into: &answer, inbox) { () throws(InboxError) in
                    try inbox.sources(installation: claim.installation, after: after, limit: claim.limit)
                } ?? []
            answer.isComplete = answer.sources.count < claim.limit
            return answer
        }
        var room = ClaimRoom(claim)
        let read = try self.read(into: &answer, inbox) { () throws(InboxError) in
            try self.rows(claim, of: inbox, at: now) { room.takes($0) }
        }
        guard let rows = read else { return answer }
        answer.isComplete = !room.isFull && rows.count < self.limit(of: claim)
        for row in rows {
            if claim.takesInHand {
                let acknowledgedAt = self.acknowledgements.time(of: row.sequence)
                try transaction.take(row, acknowledgedAt: acknowledgedAt, at: now)
            }
            answer.messages.append(row)
        }
        guard case .retries = claim.kind else { return answer }
        let next = try self.read(into: &answer, inbox) { () throws(InboxError) in
            try inbox.nextRetry(installation: claim.installation)
        }
        if let next = next ?? nil {
            answer.nextRetry = .milliseconds(max(0, next.millisecondsSinceEpoch - now.millisecondsSinceEpoch))
        }
        return answer
    }

    /// Returns `nil` if the rows cannot be read but the transaction is still open, so that the rest of the turn goes
    /// on.
    private func read<Result>(
        into answer: inout StoreAnswer, _ inbox: Inbox, _ body: () throws(InboxError) -> Result
    ) throws(InboxError) -> Result? {
        do throws(InboxError) {
            return try body()
        } catch {
            guard error.kind != .corrupt, inbox.isInTransaction else { throw error }
            answer.failure = error.description
            return nil
        }
    }

    private func rows(
        _ claim: StoreClaim, of inbox: Inbox, at now: Timestamp, while hasRoom: (StoredMessage) -> Bool
    ) throws(InboxError) -> [StoredMessage] {
        let (installation, limit) = (claim.installation, self.limit(of: claim))
        switch claim.kind {
        case .unsettled(let sequence):
            return try inbox.rowsOfNoSource(installation: installation, after: sequence, limit: limit, while: hasRoom)
        case .paused(let sequence):
            return try inbox.rows(.retry, installation: installation, after: sequence, limit: limit, while: hasRoom)
        case .suspects(let sequence):
            return try inbox.rows(.inHand, installation: installation, after: sequence, limit: limit, while: hasRoom)
        case .source(let source, let before):
            return try inbox.rows(
                ofSource: source, installation: installation, before: before, limit: limit, while: hasRoom)
        case .row(let sequence):
            guard let row = try inbox.row(sequence), row.state == .waiting, row.installation == installation
            else { return [] }
            return [row]
        case .retries:
            return try inbox.dueRetries(
                installation: installation, now: now, longestDelay: self.longestDelay, limit: limit, while: hasRoom)
        case .sources: return []
        }
    }

    /// Each row that the claim sets to `inHand` changes a page of 4096 bytes.
    private func limit(of claim: StoreClaim) -> Int {
        guard claim.takesInHand, let bytes = self.commitBytes else { return claim.limit }
        return min(claim.limit, Int(max(bytes / 4096, 1)))
    }
}
