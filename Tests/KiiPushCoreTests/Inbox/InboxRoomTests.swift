import Foundation
import KiiPushCore
import TestSupport
import Testing

@Suite struct InboxRoomTests {
    private static func size(_ path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
    }

    /// Stores rows of 1,000 bytes. `isProven` says whether the arrival of their acknowledgements is known.
    private func fill(_ inbox: Inbox, rows: Int, installation: Int64, isProven: Bool) throws {
        try inbox.transaction { transaction throws(InboxError) in
            var last: Int64 = 0
            for number in 1...rows {
                let row = StoredMessage.sample(installation: installation, bytes: 931, packetID: UInt16(number))
                last = try transaction.insert(row)
                try transaction.update(MessageChange(sequence: last, state: .done), at: .at(2000))
            }
            if isProven { try transaction.markProven(installation: installation, through: last) }
        }
    }

    @Test func rowsWhoseAcknowledgementArrivedGoFirst() throws {
        let inbox = try InboxFixture().open()
        let keys = try inbox.transaction { transaction throws(InboxError) in
            [try transaction.installation(id: "a"), try transaction.installation(id: "b")]
        }
        try self.fill(inbox, rows: 10, installation: keys[0], isProven: false)
        try self.fill(inbox, rows: 10, installation: keys[1], isProven: true)
        try inbox.insert([.sample(installation: keys[0])])
        #expect(try inbox.makeRoom(within: .seconds(600)) == 15)
        #expect(try inbox.rows(.done, limit: 100).map(\.sequence) == [6, 7, 8, 9, 10])
        #expect(try inbox.rows(.inHand, limit: 100).count == 1)
        #expect(inbox.messageLedger.done == 20)
        #expect(inbox.messageLedger.isBalanced)
    }

    @Test func theFileGetsSmaller() throws {
        let fixture = try InboxFixture()
        let inbox = try fixture.open()
        try self.fill(inbox, rows: 3000, installation: 1, isProven: false)
        #expect(try inbox.makeRoom(within: .seconds(600)) == 2250)
        #expect(try Self.size(fixture.path) < 1_300_000)
        #expect(try Self.size(fixture.path + "-wal") == 0)
    }

    @Test func theLogStaysShortOnASmallDisk() throws {
        let fixture = try InboxFixture()
        let inbox = try fixture.open { $0.busyTimeout = .zero }
        inbox.shares = InboxShares(of: 2 << 20)
        for _ in 1...1000 { try inbox.insert([.sample(bytes: 3000)]) }
        // 128 KiB, and the last transaction beyond this limit.
        #expect(try Self.size(fixture.path + "-wal") < 160 << 10)
    }

    @Test func theLogIsCutOffWhenAReaderThatStayedIsGone() throws {
        let fixture = try InboxFixture()
        let inbox = try fixture.open { $0.busyTimeout = .zero }
        inbox.shares = InboxShares(of: 2 << 20)
        try inbox.insert([.sample()])
        do {
            let reader = try SQLiteFile(fixture.path, for: .reading)
            try reader.execute("BEGIN")
            #expect(try reader.integer("SELECT count(*) FROM message") == 1)
            for _ in 1...1000 { try inbox.insert([.sample(bytes: 3000)]) }
            #expect(try Self.size(fixture.path + "-wal") > 3_000_000)
        }
        for _ in 1...1000 { try inbox.insert([.sample(bytes: 3000)]) }
        #expect(try Self.size(fixture.path + "-wal") < 300 << 10)
    }

    /// The log may use the rest of the disk when the reader ends.
    @Test func theFileHasRoomForALogThatAReaderKeepsOutOfIt() throws {
        let fixture = try InboxFixture()
        let inbox = try fixture.open { $0.busyTimeout = .zero }
        inbox.shares = InboxShares(of: 2 << 20)
        try inbox.insert([.sample()])
        let reader = try SQLiteFile(fixture.path, for: .reading)
        try reader.execute("BEGIN")
        #expect(try reader.integer("SELECT count(*) FROM message") == 1)
        for _ in 1...100 { try inbox.insert([.sample(bytes: 3000)]) }
        try reader.execute("COMMIT")
        let needed = try reader.integer("PRAGMA page_count") * 4096
        #expect(try Int64(Self.size(fixture.path)) >= needed + (32 << 10))
        _ = try inbox.makeRoom(within: .seconds(600))
        #expect(try Int64(Self.size(fixture.path)) == needed)
    }

    @Test func aReserveStandsBesideTheInboxUntilItIsGivenUp() throws {
        let fixture = try InboxFixture(name: "inbox.sqlite")
        _ = try fixture.open()
        var room = InboxRoom(of: fixture.path)
        let reserve = fixture.path + "-reserve"
        #expect(room.hasReserve)
        #expect(try fixture.mode(of: reserve) == 0o600)
        #expect(try Int64(Self.size(reserve)) == room.shares.reserveBytes)
        room.giveUpReserve()
        #expect(!room.hasReserve)
        #expect(!FileManager.default.fileExists(atPath: reserve))
        room.checkIfDue()
        #expect(room.hasReserve)
    }

    /// On an otherwise empty disk, the maximum shares must leave space to work.
    @Test(arguments: [2, 4, 8, 16, 64, 1024])
    func theSharesFitOnTheDisk(megabytes: Int64) {
        let room = megabytes << 20
        let shares = InboxShares(of: room)
        let log = shares.logBytes + (shares.transactionBytes ?? shares.logBytes)
        #expect(shares.reserveBytes >= log + (512 << 10) / 2)
        #expect(shares.reserveBytes + log + shares.doneBytes + shares.waitingBytes + shares.deadBytes < room / 8 * 9)
    }
}
