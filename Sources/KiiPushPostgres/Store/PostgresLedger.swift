#if Postgres
import KiiPushCore

extension MessageLedger {
    /// - Parameter rows: what ``PostgresStatements/ledger`` returns.
    init(_ rows: PostgresRows) {
        let numbers = (0..<10).map { rows.integer(0, $0) }
        let (received, duplicates, expired, dropped) = (numbers[0], numbers[1], numbers[2], numbers[3])
        let unfinished = numbers[4...8].reduce(0, +)
        self.init(
            received: received, duplicates: duplicates, waiting: numbers[4] + numbers[6] - numbers[9],
            running: numbers[5] + numbers[9],
            presented: numbers[7],
            // All others that were stored, those that were removed since included.
            done: received - duplicates - unfinished - expired - dropped, dead: numbers[8], expired: expired,
            dropped: dropped)
    }
}
#endif
