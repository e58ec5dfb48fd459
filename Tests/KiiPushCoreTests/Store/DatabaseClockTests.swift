#if Postgres
import TestSupport
import Testing

@testable import KiiPushCore
@testable import KiiPushPostgres

@Suite struct DatabaseClockTests {
    @Test(arguments: [86_400_000, -86_400_000] as [Int64]) func aWrongClockWritesRightTimes(lead: Int64) async throws {
        let clocks = Clocks(
            monotonic: Clocks.machine.monotonic,
            calendarNanoseconds: { Clocks.machine.calendarNanoseconds() + lead * 1_000_000 })
        try await withStorePlace(.postgres) { place in
            let store = try await place.open(clocks: clocks)
            let key = try await store.installation("a")
            let message = TestMessage(TestLink(installation: key)).with { $0.receivedAt = clocks.calendar }
            let rows = try await store.receive(message, message, message)
            for row in rows { try await store.read { $0.acknowledged(row, at: clocks.calendar) } }
            try await store.change(.change(rows[0], of: key, .done(.newData)))
            for row in rows[1...] { try await store.change(.change(row, of: key, .dead(.attemptsFailed(.failed)))) }
            let _: Int64? = try await store.ask { $0.requeue(rows[1], at: clocks.calendar, completion: $1) }
            let wrong = """
                SELECT count(*) FROM kii_push.message WHERE abs(received_ms - kii_push.now_ms()) > 3600000
                    OR abs(updated_ms - kii_push.now_ms()) > 3600000 OR stored_after NOT BETWEEN 0 AND 3600000
                    OR acknowledged_after NOT BETWEEN 0 AND 3600000
                """
            #expect(try await PostgresServer.run(wrong, at: place.address) == "0\n")
            let events = "SELECT count(*), max(abs(at_ms - kii_push.now_ms())) < 3600000 FROM kii_push.event"
            #expect(try await PostgresServer.run(events, at: place.address) == "3|t\n")
        }
    }

    @Test func aSlowAnswerSaysLittle() {
        var clock = DatabaseClock()
        // The database's time lies within the time that the answer took, so there is no lead.
        clock.note(1_005, from: 1_000, to: 1_010)
        #expect(clock.lead == 0)
        clock.note(61_000, from: 1_000, to: 1_010)
        #expect(clock.lead == 59_990)
        // The answer took 10 s, which could explain the difference, so the lead stays.
        clock.note(70_000, from: 5_000, to: 15_000)
        #expect(clock.lead == 59_990)
        // The machine's clock was set.
        clock.note(100_000, from: 100_000, to: 100_003)
        #expect(clock.lead == 0)
        clock.note(100_000, from: 100_500, to: 100_502)
        #expect(clock.lead == -500)
    }
}
#endif
