import KiiPushCore
import TestSupport

/// What the inbox of an agent holds, read from outside while it runs or after it was killed.
struct InboxReading {
    /// Dead letters, in the order of reception.
    var deadLetters: [StoredMessage] = []
    /// Rows that no handler has finished and that are not given up.
    var open: Int64 = 0

    /// Reads the inbox below a state directory. An inbox that is not there (yet, or since it is in memory) holds nothing.
    ///
    /// - Parameter former: an earlier reading, whose dead letters are good as long as there are as many.
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

    /// When the latest message that is kept as done was received, by the agent's calendar.
    static func latestReception(state: String) throws -> Timestamp? {
        var configuration = Inbox.Configuration()
        configuration.isReadOnly = true
        let inbox = try Inbox(path: "\(state)/inbox.sqlite", configuration: configuration)
        return try inbox.rows(.done, limit: 100_000).map(\.receivedAt).max()
    }

    /// How many messages had an attempt that failed, or was cut off.
    static func countOfRepeated(state: String) throws -> Int {
        var configuration = Inbox.Configuration()
        configuration.isReadOnly = true
        let inbox = try Inbox(path: "\(state)/inbox.sqlite", configuration: configuration)
        return try inbox.rows(.done, limit: 100_000).count { $0.attempts > 1 }
    }

    /// Which of several equal messages the handled ones are, by what the handler is told; nothing where no two messages
    /// have one number.
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

    /// The dead letters, as far as a scenario knows them.
    var dead: DeadLetters {
        DeadLetters(
            self.deadLetters.map {
                DeadLetters.Letter(
                    number: $0.payload.messageNumber, reason: $0.reason ?? "for no reason")
            })
    }
}
