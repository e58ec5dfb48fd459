package import KiiPushCore

/// The claims about any session, checked step by step.
package struct SessionModel {
    package struct Owed {
        package let ticket: UInt64
        package let packetID: UInt16
        package var isOpen = false
    }

    package var owed: [Owed] = []
    package var lastTicket: UInt64 = 0
    package var firstTicketOfConnection: UInt64 = 1
    package var lastSent: UInt64 = 0
    package var lastProven: UInt64 = 0
    package var isOpen = false
    package var hasConnected = false
    package init() {}

    /// Counts of events. A test of the corpus uses them to see that the inputs reach enough of the session.
    package var acknowledged = 0
    package var proven = 0
    package var subscribed = 0
    package var ends = 0

    package mutating func connectionOpened() {
        self.isOpen = true
        self.hasConnected = false
        self.connectionGone()
    }

    package mutating func connectionGone() {
        self.owed = []
        self.firstTicketOfConnection = self.lastTicket + 1
        self.lastSent = self.lastTicket
    }

    package mutating func opened(_ tickets: ClosedRange<UInt64>) {
        for index in self.owed.indices where tickets.contains(self.owed[index].ticket) {
            self.owed[index].isOpen = true
        }
    }

    private static func packets(_ bytes: [UInt8], _ violations: inout [String]) -> [MQTTPacket] {
        var decoder = FrameDecoder()
        if let packets = try? decoder.packets(from: bytes), decoder.keptBytes == 0 { return packets }
        violations.append("only whole packets are sent")
        return []
    }

    package mutating func violations(_ output: MQTTSession.Output) -> [String] {
        var violations: [String] = []
        func require(_ condition: Bool, _ claim: String) {
            if !condition { violations.append(claim) }
        }
        if !self.isOpen { require(output == MQTTSession.Output(), "nothing is said without a connection") }
        for event in output.events {
            switch event {
            case .acknowledgementsProven(let ticket):
                require(ticket > self.lastProven, "proof grows")
                require(ticket >= self.firstTicketOfConnection, "proof is of this connection")
                require(ticket <= self.lastSent, "only what was sent is proven")
                self.lastProven = ticket
                self.proven += 1
            case .connected: self.subscribed += 1
            case .connectionRefused, .subscriptionRefused, .keepAliveMissed, .timedOut, .protocolError, .unsendable:
                require(output.close != nil, "the connection is over")
                self.ends += 1
            case .protocolVersionChanged, .sessionMayBeNew, .sessionLost, .redeliveryWindowPassed: break
            }
        }
        for message in output.messages {
            require((message.qos == .atMostOnce) == (message.ticket == nil), "a ticket for each acknowledgement")
            guard let ticket = message.ticket, let packetID = message.packetID else { continue }
            require(ticket == self.lastTicket + 1, "tickets are given out in order, each once")
            self.lastTicket = ticket
            self.owed.append(Owed(ticket: ticket, packetID: packetID))
        }
        for packet in output.bytes.isEmpty ? [] : Self.packets(output.bytes, &violations) {
            switch packet {
            case .connect:
                require(!self.hasConnected, "CONNECT is sent once")
                self.hasConnected = true
            case .puback(let packetID), .pubrec(let packetID):
                guard let first = self.owed.first else { return violations + ["only what is owed is sent"] }
                require(first.packetID == packetID, "in order of reception")
                require(first.isOpen, "no gate, no acknowledgement")
                self.lastSent = first.ticket
                self.owed.removeFirst()
                self.acknowledged += 1
            case .subscribe, .pingreq, .pubcomp, .disconnect: break
            case .connack, .publish, .pubrel, .suback, .pingresp:
                require(false, "a client sends no \(packet.type)")
            }
            require(self.hasConnected, "CONNECT comes first")
        }
        if output.close != nil {
            self.isOpen = false
        } else if self.isOpen {
            require(self.owed.first?.isOpen != true, "what may leave has left")
        }
        return violations
    }
}
