import KiiPushCore

/// The library's reading of an inbox file that anybody may have written.
///
/// The input chooses a check. Then it holds either the parts of an event, or edits of a valid file: table, row, column
/// and new value.
enum RowsFuzzing {
    private static let file = Locked<RowsFile?>(nil)

    static func violations(_ input: [UInt8]) -> [String] {
        var input = FuzzInput(input)
        // One check for each input, because SQLite is the slowest part.
        let look = input.number(in: 0...5)
        guard look > 0 else { return Self.eventViolations(&input) }
        let edits = input.remainder()
        do {
            return try Self.file.withLock { file in
                let opened = try file ?? RowsFile()
                file = opened
                try opened.edit(FuzzInput(edits))
                return Self.violations(of: opened, look)
            }
        } catch {
            return ["the file cannot be used: \(error)"]
        }
    }

    private static func violations(of file: RowsFile, _ look: Int) -> [String] {
        var claims = Claims()
        switch look {
        case 1: Self.checkMessages(file, &claims)
        case 2: Self.checkVerification(file, &claims)
        case 3: Self.checkDeadLetters(file, &claims)
        case 4: Self.checkBacklog(file, &claims)
        default: Self.checkWriting(file, &claims)
        }
        claims.require(!file.inbox.isInTransaction, "no transaction is left open")
        return claims.violated
    }

    /// An event that was read is written with the same parts and read again, and keeps its text.
    private static func eventViolations(_ input: inout FuzzInput) -> [String] {
        var claims = Claims()
        let code = Int64(input.number(in: 0...20))
        let attempt = input.number(in: 0...3)
        let text = String(decoding: input.remainder(), as: UTF8.self)
        let parts = MessageEvent.Kind.Parts(
            code, attempt: attempt == 0 ? nil : attempt, pause: .milliseconds(attempt), detail: text)
        guard let kind = MessageEvent.Kind(parts) else { return [] }
        claims.require(kind.parts.code == code, "a kind is written as what it was")
        claims.require(MessageEvent.Kind(kind.parts) == kind, "what is written is read as it is")
        claims.require(
            kind.parts.detail.map { $0.utf8.suffix(text.utf8.count).elementsEqual(text.utf8) } ?? true, "a text is kept"
        )
        claims.require(DeadLetterReason(text).description == text, "a reason is kept")
        return claims.violated
    }

    private static func checkMessages(_ file: RowsFile, _ claims: inout Claims) {
        let all = Self.read(&claims) { () throws(InboxAccessError) in try file.reader.messages(limit: 100) }
        guard let all else { return }
        claims.require(zip(all, all.dropFirst()).allSatisfy { $0.messageID < $1.messageID }, "messages are in order")
        for trace in all {
            claims.require(
                zip(trace.events, trace.events.dropFirst()).allSatisfy { $0.at <= $1.at }, "events are in order")
            claims.require(
                trace.events.contains { $0.kind == .received && $0.at == trace.receivedAt }, "a message was received")
            claims.require((0...2).contains(trace.qualityOfService), "a quality is one of three")
        }
        if file.touched.isSubset(of: ["message"]) {
            let read = Dictionary(all.map { ($0.messageID, $0) }) { first, _ in first }
            for trace in file.sound where !file.edited.contains(trace.messageID) {
                claims.require(read[trace.messageID] == trace, "a row that nobody has touched is read as ever")
            }
        }
        guard let last = all.last else { return }
        let one = Self.read(&claims) { () throws(InboxAccessError) in try file.reader.trace(of: last.messageID) }
        // The search for a single message also uses the ledger.
        claims.require(one == nil || one == last, "a message alone is the one of the page")
        guard last.messageID > .min else { return }
        let page = Self.read(&claims) { () throws(InboxAccessError) in
            try file.reader.messages(after: last.messageID - 1, limit: 100)
        }
        claims.require(page == [last], "a page begins where it is to")
    }

    private static func checkVerification(_ file: RowsFile, _ claims: inout Claims) {
        guard Self.read(&claims, { () throws(InboxAccessError) in try file.reader.verify() }) != nil else { return }
        let all = Self.read(&claims) { () throws(InboxAccessError) in try file.reader.messages(limit: 100) }
        let ledger = Self.read(&claims) { () throws(InboxAccessError) in try file.reader.ledger() }
        guard let all, let ledger else { return claims.require(false, "what is found to be sound can be read") }
        let waiting = all.count { if case .waiting = $0.state { true } else { false } }
        let retries = all.count { if case .waitingForRetry = $0.state { true } else { false } }
        claims.require(ledger.waiting == Int64(waiting + retries), "what waits is counted")
        claims.require(ledger.dead == Int64(all.count { $0.isDead }), "what is dead is counted")
    }

    private static func checkDeadLetters(_ file: RowsFile, _ claims: inout Claims) {
        let letters = Self.read(&claims) { () throws(InboxAccessError) in try file.reader.deadLetters() }
        let dead = Self.read(&claims) { () throws(InboxAccessError) in try file.reader.messages([.dead], limit: 100) }
        if let letters, let dead {
            claims.require(letters.map(\.messageID) == dead.map(\.messageID), "dead letters are messages that are dead")
            claims.require(letters.map(\.payload) == dead.map(\.payload), "with their payloads")
            claims.require(dead.allSatisfy(\.isDead), "a state is looked for")
        }
        _ = Self.read(&claims) { () throws(InboxAccessError) in try file.reader.deadLetterStock() }
        let stranded = Self.read(&claims) { () throws(InboxAccessError) in try file.reader.stranded() }
        claims.require(stranded?.allSatisfy { $0.messages > 0 } ?? true, "who is stranded has messages")
    }

    /// Checks the rows that an agent reads at its start.
    private static func checkBacklog(_ file: RowsFile, _ claims: inout Claims) {
        do throws(InboxError) {
            for state in [RowState.waiting, .inHand, .retry, .presented] {
                let rows = try file.inbox.rows(state, installation: 1, limit: 100)
                claims.require(rows.allSatisfy { $0.state == state }, "a state is looked for")
                claims.require(rows.allSatisfy { $0.installation == 1 }, "an installation is looked for")
            }
            let due = try file.inbox.dueRetries(
                installation: 1, now: file.now, longestDelay: .seconds(3600), limit: 10)
            claims.require(due.allSatisfy { $0.state == .retry }, "a retry is due")
            _ = try file.inbox.nextRetry(installation: 1)
            _ = try file.inbox.unproven()
            claims.require(try file.inbox.pendingBytes(besides: [2]) >= 0, "bytes are no less than none")
        } catch {
            Self.check(error, &claims)
        }
    }

    /// Checks the rows that an agent writes, in many states of each message.
    private static func checkWriting(_ file: RowsFile, _ claims: inout Claims) {
        do throws(InboxError) {
            try file.tryWriting()
        } catch {
            Self.check(error, &claims)
        }
    }

    private static func check(_ error: InboxError, _ claims: inout Claims) {
        claims.require(error.kind == .corrupt, "only damage is found: \(error)")
        claims.require(!error.description.holdsSecret, "an error holds nothing of a row")
    }

    private static func read<Value>(
        _ claims: inout Claims, _ body: () throws(InboxAccessError) -> Value
    ) -> Value? {
        do throws(InboxAccessError) {
            return try body()
        } catch {
            let words = error.description
            claims.require(!words.isEmpty && !words.contains { $0.isNewline }, "an error is one line")
            claims.require(!words.holdsSecret, "an error holds nothing of a row")
            return nil
        }
    }
}

extension MessageRecord {
    fileprivate var isDead: Bool { if case .dead = self.state { true } else { false } }
}
