/// The acknowledgements that one connection owes, in order of reception. Each has a gate, which its ticket opens; an
/// acknowledgement leaves when its gate and all gates before it are open ([MQTT-4.6.0-2], [MQTT-4.6.0-3]). Tickets are
/// never used twice, so one of an earlier connection opens nothing.
struct AcknowledgementQueue: Sendable {
    private struct Slot {
        let packetID: UInt16
        let qos: QoS
        var isOpen = false
    }

    private var slots: [Slot] = []
    /// Where in `slots` the first one lies that was not sent.
    private var head = 0
    /// The ticket of that one, or the next to be given out.
    private(set) var firstUnsent: UInt64 = 1

    var count: Int { self.slots.count - self.head }

    var nextTicket: UInt64 { self.firstUnsent + UInt64(self.count) }

    /// Queues the acknowledgement of a message that came in, and returns its ticket.
    mutating func append(packetID: UInt16, qos: QoS) -> UInt64 {
        let ticket = self.nextTicket
        self.slots.append(Slot(packetID: packetID, qos: qos))
        return ticket
    }

    /// Opens one gate; nothing happens where the ticket is of an earlier connection, used, or never given out.
    mutating func open(_ ticket: UInt64) {
        guard ticket >= self.firstUnsent, ticket < self.nextTicket else { return }
        self.slots[self.head + Int(ticket - self.firstUnsent)].isOpen = true
    }

    /// Opens all gates up to this one's, under the same condition.
    mutating func open(through ticket: UInt64) {
        guard ticket >= self.firstUnsent, ticket < self.nextTicket else { return }
        for index in self.head...self.head + Int(ticket - self.firstUnsent) { self.slots[index].isOpen = true }
    }

    /// Writes what may leave.
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
            // Moves at most as many as were sent since the last time.
            self.slots.removeFirst(self.head)
            self.head = 0
        }
    }

    /// Forgets what the connection owed: its broker will send these messages again.
    mutating func drop() {
        self.firstUnsent = self.nextTicket
        self.slots = []
        self.head = 0
    }
}
