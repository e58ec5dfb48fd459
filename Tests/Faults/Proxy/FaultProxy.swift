import KiiPushCore
package import KiiPushEmulator

/// The emulator's proxy, which records its traffic for a scenario.
package typealias FaultProxy = PacketProxy<TrafficObserver>

extension PacketProxy where Observer == TrafficObserver {
    package convenience init() throws { try self.init([.tcp, .webSocket], observer: TrafficObserver()) }

    package var traffic: Traffic { self.observer.traffic.withLock { $0 } }

    /// Waits until all connections have ended, then resets the counts.
    package func forgetTraffic() async {
        let traffic = self.observer.traffic
        while await !self.whileIdle({ traffic.withLock { $0 = Traffic() } }) {
            try? await Task.sleep(for: .milliseconds(1))
        }
    }
}

package final class TrafficObserver: ProxyObserver {
    let traffic = Locked(Traffic())

    package func connected() -> Int { self.traffic.withLock { $0.connected() } }
    package func refused() { self.traffic.withLock { $0.refuse() } }
    package func ended(_ connection: Int, byCut: Bool) {
        self.traffic.withLock { $0.ended(connection, byCut: byCut) }
    }

    package func received(_ packet: inout ProxyPacket, _ direction: Direction) {
        if direction == .toReceiver { packet.serial = MessageSerial.take(from: &packet.payload) }
    }

    package func passed(_ packet: ProxyPacket, _ direction: Direction, connection: Int, copies: Int) {
        guard let identifier = packet.packetID else { return }
        self.traffic.withLock { traffic in
            switch (packet.header.type, direction) {
            case (.publish, .toReceiver):
                for _ in 0..<copies {
                    traffic.delivered(
                        packet.payload.messageNumber, serial: packet.serial, packetID: identifier,
                        isMarkedDuplicate: packet.isMarkedDuplicate, connection: connection)
                }
            // The receiver has sent the packet, even if the broker never gets it. For QoS 2, PUBREC takes over the
            // message.
            case (.puback, .toBroker), (.pubrec, .toBroker):
                traffic.acknowledged(packetID: identifier, connection: connection)
            default: break
            }
        }
    }
}
