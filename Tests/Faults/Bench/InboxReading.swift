import KiiPushCore
import TestSupport

/// The inbox of an agent, read by another process while the agent runs or after it was killed.
struct InboxReading {
    /// Dead letters, in the order of reception.
    var deadLetters: [StoredMessage] = []
    /// Rows that are neither handled nor dead letters.
    var open: Int64 = 0

    /// Reads the inbox below a state directory. A missing inbox (not made yet, or in memory) reads as empty.
    ///
    /// - Parameter former: an earlier reading. Its dead letters are reused if their number is unchanged.
    init(state: String, after former: InboxReading? = nil) throws {
        var configuration = Inbox.Configuration()
        configuration.isReadOnly = true
        do throws(InboxError) {
            let inbox = try Inbox(path: "\(state)/inbox.sqlite", configuration: configuration)
            let counts = try inbox.currentCounts()
            self.open = [RowState.waiting, .inHand, .retry, .presented].reduce(0) { $0 + counts[$1].rows }
            let isUnchanged = former.map { Int64($0.deadLetters.count) == counts[.dead].rows } ?? false
            self.deadLetters = isUnchanged ? former?.deadLetters ?? [] : try inbox.deadLetters(limit: 100_000)
        } catch {
            guard error.kind == .cannotOpen || error.kind == .notMade else { throw error }
        }
    }

    /// Reception time of the newest handled message that the inbox still keeps, by the agent's calendar.
    static func latestReception(state: String) throws -> Timestamp? {
        var configuration = Inbox.Configuration()
        configuration.isReadOnly = true
        let inbox = try Inbox(path: "\(state)/inbox.sqlite", configuration: configuration)
        return try inbox.rows(.done, limit: 100_000).map(\.receivedAt).max()
    }

    /// Number of handled messages that took more than one attempt.
    static func countOfRepeated(state: String) throws -> Int {
        var configuration = Inbox.Configuration()
        configuration.isReadOnly = true
        let inbox = try Inbox(path: "\(state)/inbox.sqlite", configuration: configuration)
        return try inbox.rows(.done, limit: 100_000).count { $0.attempts > 1 }
    }

    /// Serials of the handled messages, by the ID that the handler got. Empty unless several messages have the same
    /// number.
    static func serials(of sent: [Int: Int], state: String, in traffic: Traffic) throws -> [String: Int] {
        guard sent.values.contains(where: { $0 > 1 }) else { return [:] }
        var configuration = Inbox.Configuration()
        configuration.isReadOnly = true
        let inbox = try Inbox(path: "\(state)/inbox.sqlite", configuration: configuration)
        let rows = try inbox.rows(.done, limit: 100_000).compactMap { row -> RowOrigins.Row? in
            guard let number = row.payload.messageNumber, let packetID = row.packetID else { return nil }
            return RowOrigins.Row(
                id: row.sequence, number: number, packetID: packetID, connection: row.connection,
                receivedAt: row.receivedAt)
        }
        return RowOrigins.serials(of: rows, in: traffic)
    }

    var dead: DeadLetters {
        DeadLetters(
            self.deadLetters.map {
                DeadLetters.Letter(
                    number: $0.payload.messageNumber, reason: $0.reason ?? "for no reason")
            })
    }
}
