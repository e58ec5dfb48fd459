import Faults
import KiiPushCore
import Testing

@Suite struct RowOriginsTests {
    private let start = Timestamp(millisecondsSinceEpoch: 1000)

    /// Both connections count packet identifiers from 1. The second one delivers serial 12 again, under another
    /// identifier.
    private var traffic: Traffic {
        var traffic = Traffic()
        let first = traffic.connected(at: self.start)
        traffic.delivered(1, serial: 11, packetID: 1, isMarkedDuplicate: false, connection: first)
        traffic.delivered(1, serial: 12, packetID: 2, isMarkedDuplicate: false, connection: first)
        traffic.ended(first, byCut: true)
        let second = traffic.connected(at: self.start + .milliseconds(50))
        traffic.delivered(1, serial: 12, packetID: 1, isMarkedDuplicate: true, connection: second)
        traffic.delivered(1, serial: 13, packetID: 2, isMarkedDuplicate: true, connection: second)
        return traffic
    }

    private func row(
        _ id: Int64, number: Int = 1, _ packetID: UInt16, _ connection: Int64, at: Int64
    ) -> RowOrigins.Row {
        RowOrigins.Row(
            id: id, number: number, packetID: packetID, connection: connection,
            receivedAt: Timestamp(millisecondsSinceEpoch: at))
    }

    @Test func equalRowsAreToldApart() {
        let rows = [
            self.row(1, 1, 900, at: 1001), self.row(2, 2, 900, at: 1060), self.row(3, 1, 903, at: 1055),
            self.row(4, 2, 903, at: 1055),
        ]
        #expect(RowOrigins.serials(of: rows, in: self.traffic) == ["1": 11, "2": 12, "3": 12, "4": 13])
    }

    /// The agent took serial 13 for a repetition of 12, so none of its three rows stands for 13.
    @Test func whatWasSwallowedHasNoRow() {
        let rows = [self.row(1, 1, 900, at: 1001), self.row(2, 2, 900, at: 1001), self.row(3, 1, 903, at: 1055)]
        #expect(Set(RowOrigins.serials(of: rows, in: self.traffic).values) == [11, 12])
    }

    @Test func aMessageWithoutSerialDisturbsNone() {
        var traffic = self.traffic
        traffic.delivered(2, packetID: 3, isMarkedDuplicate: false, connection: 2)
        let rows = [self.row(3, 1, 903, at: 1055), self.row(4, number: 2, 3, 903, at: 1056)]
        #expect(RowOrigins.serials(of: rows, in: traffic) == ["3": 12])
    }

    @Test func aRowOfNothingHasNoMessage() {
        // No message was delivered with this identifier, number and time.
        #expect(RowOrigins.serials(of: [self.row(1, 3, 900, at: 1001)], in: self.traffic) == [:])
        #expect(RowOrigins.serials(of: [self.row(1, number: 2, 1, 900, at: 1001)], in: self.traffic) == [:])
        #expect(RowOrigins.serials(of: [self.row(1, 1, 900, at: 999)], in: self.traffic) == [:])
    }
}
