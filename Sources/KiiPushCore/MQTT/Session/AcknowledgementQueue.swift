/// The unsent acknowledgements of one connection, in order of reception.
///
/// Each acknowledgement has a ticket, a number that is never reused. ``open(_:)`` permits the acknowledgement of a
/// ticket. An acknowledgement is sent once it and all earlier ones are permitted ([MQTT-4.6.0-2], [MQTT-4.6.0-3]).
struct AcknowledgementQueue: Sendable {
    private struct Slot {
        let packetID: UInt16
        let qos: QoS
        var isOpen = false
    }

    private var slots: [Slot] = []
    private var head = 0
    /// The ticket of the first unsent acknowledgement, or the next ticket if all are sent.
    private(set) var firstUnsent: UInt64 = 1

    var count: Int { self.slots.count - self.head }

    var nextTicket: UInt64 { self.firstUnsent + UInt64(self.count) }

    mutating func append(packetID: UInt16, qos: QoS) -> UInt64 {
        let ticket = self.nextTicket
        self.slots.append(Slot(packetID: packetID, qos: qos))
        return ticket
    }

    /// Ignores tickets of earlier connections, used tickets, and tickets never issued.
    mutating func open(_ ticket: UInt64) {
        guard ticket >= self.firstUnsent, ticket < self.nextTicket else { return }
        self.slots[self.head + Int(ticket - self.firstUnsent)].isOpen = true
    }

    mutating func open(through ticket: UInt64) {
        guard ticket >= self.firstUnsent, ticket < self.nextTicket else { return }
        for index in self.head...self.head + Int(ticket - self.firstUnsent) { self.slots[index].isOpen = true }
    }

    mutating func flush(into bytes: inout [UInt8]) {
        while self.head < self.slots.count, self.slots[self.head].isOpen {
            let slot = self.slots[self.head]
            let type: MQTTPacketType = slot.qos == .exactlyOnce ? .pubrec : .puback
            bytes.append(type.rawValue << 4)
            bytes.append(2)
            bytes.appendNumber(slot.packetID)
            self.head += 1
            self.firstUnsent += 1
        }
        if self.head == self.slots.count {
            self.slots.removeAll(keepingCapacity: self.slots.capacity <= 1024)
            self.head = 0
        } else if self.head > 256, self.head > self.slots.count / 2 {
            self.slots.removeFirst(self.head)
            self.head = 0
        }
    }

    /// Drops all unsent acknowledgements: the broker can send their messages again.
    mutating func drop() {
        self.firstUnsent = self.nextTicket
        self.slots = []
        self.head = 0
    }
}
