import Foundation
import TestSupport
import Testing

@testable import KiiPushCore

@Suite struct InboxMarkTests {
    private func mark(_ fixture: InboxFixture) -> InboxMark? { InboxMark(ofInboxAt: fixture.path) }

    @Test func isReadAsItWasWritten() throws {
        let fixture = try InboxFixture()
        #expect(self.mark(fixture) == nil)
        var ledger = InboxLedger(lastSequence: 1 << 56)
        (ledger.received, ledger.duplicates) = (90, 20)
        ledger.counts[.waiting].rows = 7
        ledger.counts[.done].rows = 5
        let written = InboxMark(of: ledger)
        #expect((written.stored, written.unfinished) == (70, 7))
        #expect(written.write(besides: fixture.path, isFlushed: true))
        #expect(self.mark(fixture) == written)
        #expect(try fixture.mode(of: fixture.path + "-mark") == 0o600)
        // Written in place: the shorter text must replace the whole longer text.
        let smaller = InboxMark(of: InboxLedger())
        #expect(smaller.write(besides: fixture.path, isFlushed: false))
        #expect(self.mark(fixture) == smaller)
    }

    @Test func aTornOneIsNone() throws {
        let fixture = try InboxFixture()
        let path = fixture.path + "-mark"
        var ledger = InboxLedger(lastSequence: 60)
        ledger.received = 60
        InboxMark(of: ledger).write(besides: fixture.path, isFlushed: false)
        let whole = try Data(contentsOf: URL(filePath: path))
        for cut in 0..<whole.count {
            try whole[..<cut].write(to: URL(filePath: path))
            #expect(self.mark(fixture) == nil)
        }
        for index in whole.indices {
            var changed = whole
            changed[index] ^= 1
            try changed.write(to: URL(filePath: path))
            #expect(self.mark(fixture) == nil)
        }
        try whole.write(to: URL(filePath: path))
        #expect(self.mark(fixture) != nil)
    }

    @Test func followsNoLinkAndWaitsForNoWriter() throws {
        let fixture = try InboxFixture()
        let path = fixture.path + "-mark"
        #expect(mkfifo(path, 0o600) == 0)
        #expect(self.mark(fixture) == nil)
        #expect(!InboxMark(of: InboxLedger()).write(besides: fixture.path, isFlushed: false))
        unlink(path)
        let other = fixture.directory + "/other"
        try Data("other".utf8).write(to: URL(filePath: other))
        #expect(symlink(other, path) == 0)
        #expect(!InboxMark(of: InboxLedger()).write(besides: fixture.path, isFlushed: false))
        #expect(try String(contentsOfFile: other, encoding: .utf8) == "other")
    }

    @Test func countsWhatMayBeMissing() {
        func ledger(stored: Int64, open: Int64) -> InboxLedger {
            var ledger = InboxLedger(lastSequence: stored)
            ledger.received = stored
            ledger.counts[.waiting].rows = open
            ledger.pruned = stored - open
            return ledger
        }
        let mark = InboxMark(of: ledger(stored: 60, open: 20))
        #expect(mark.missing(from: ledger(stored: 0, open: 0)) == 20)
        #expect(mark.missing(from: ledger(stored: 50, open: 10)) == 10)
        // After a kill, the file also holds later messages than the mark.
        #expect(mark.missing(from: ledger(stored: 70, open: 30)) == 0)
        #expect(!mark.isAhead(of: ledger(stored: 60, open: 0)))
        #expect(!mark.isAhead(of: ledger(stored: 61, open: 0)))
        #expect(mark.isAhead(of: ledger(stored: 59, open: 59)))
    }
}
