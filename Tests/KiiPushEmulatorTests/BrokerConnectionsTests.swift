import KiiPushCore
import KiiPushEmulator
import Testing

/// The number of connections of each user, read from mosquitto's log lines.
@Suite struct BrokerConnectionsTests {
    private func usernames(after lines: String...) -> Set<String> {
        var connections = BrokerConnections()
        for line in lines { connections.read("1795212541: \(line)") }
        return Set(connections.statuses.filter { $0.value.isOnline }.keys)
    }

    private static let connected = "New client connected from 127.0.0.1:55938 as push/u1 (p2, c1, k60, u'u1')."

    @Test func aConnectionCounts() {
        #expect(self.usernames(after: BrokerConnectionsTests.connected) == ["u1"])
    }

    @Test(
        arguments: [
            "Client push/u1 disconnected.", "Client push/u1 closed its connection.",
            "Client push/u1 has exceeded timeout, disconnecting.", "Client push/u1 disconnected, not authorised.",
            "Client push/u1 disconnected due to protocol error.", "Client push/u1 disconnected: Success.",
            "Client push/u1 been disconnected by administrative action.",
        ]
    )
    func itsEndEndsIt(line: String) {
        #expect(self.usernames(after: BrokerConnectionsTests.connected, line).isEmpty)
    }

    @Test(
        arguments: [
            ("127.0.0.1:7", 1883, BrokerTransport.tcp), ("127.0.0.1:7", 8883, .tls), ("127.0.0.2:7", 1883, .webSocket),
            ("127.0.0.3:7", 1883, .webSocketTLS),
        ]
    )
    func theTransportIsToldByTheAddressAndThePort(address: String, port: Int, transport: BrokerTransport) {
        var connections = BrokerConnections()
        connections.tlsPort = 8883
        for line in [
            "New connection from \(address) on port \(port).", "New connection from 127.0.0.1:8 on port 8883.",
        ] {
            connections.read("100: \(line)")
        }
        connections.read("100: New client connected from \(address) as push/u1 (p2, c1, k60, u'u1').")
        #expect(connections.statuses["u1"]?.transport == transport)
    }

    @Test func aConnectionThatIsTakenOverGoesOn() {
        let lines = (BrokerConnectionsTests.connected, "Client push/u1 already connected, closing old connection.")
        #expect(self.usernames(after: lines.0, lines.1, lines.0) == ["u1"])
    }

    @Test(
        arguments: [
            "New connection from 127.0.0.1:46774 on port 18831.", "Saving in-memory database to mosquitto.db.",
            "Client push/u2 disconnected.", "Client", "Client ", "", "New client connected from ",
            "New client connected from 127.0.0.1:1 as x (p2, c1, k60).",
            "New client connected from 127.0.0.1:1 as kii-push-probe (p2, c1, k60, u'u2').",
        ]
    )
    func otherLinesChangeNothing(line: String) {
        #expect(self.usernames(after: BrokerConnectionsTests.connected, line) == ["u1"])
    }

    @Test func strangeClientIDsAreReadWhole() {
        let id = "a as b (p2) disconnected é"
        let connected = "New client connected from 127.0.0.1:1 as \(id) (p1, c0, k60, u'u9')."
        #expect(self.usernames(after: connected) == ["u9"])
        #expect(self.usernames(after: connected, "Client \(id) closed its connection.").isEmpty)
    }

    @Test(arguments: ["", "now: ", "-1: ", "99999999999: "])
    func aLineWithoutATimeIsNoLine(time: String) {
        var connections = BrokerConnections()
        for line in [BrokerConnectionsTests.connected, "Client", ""] { connections.read(time + line) }
        #expect(connections.statuses.isEmpty)
    }

    @Test func aStatusSaysSinceWhenItIsSo() {
        var connections = BrokerConnections()
        func expectStatus(_ count: Int, at seconds: Int64) {
            let time = Timestamp(millisecondsSinceEpoch: seconds * 1000)
            let expected = ["u1": BrokerConnections.Status(connections: count, changedAt: time)]
            #expect(connections.statuses == expected)
        }
        connections.read("100: \(BrokerConnectionsTests.connected)")
        expectStatus(1, at: 100)
        // A second client with the same user name leaves `changedAt` as it is, and so does the end of one of the two.
        connections.read("200: New client connected from 127.0.0.1:1 as other (p2, c1, k60, u'u1').")
        expectStatus(2, at: 100)
        connections.read("300: Client push/u1 disconnected.")
        expectStatus(1, at: 100)
        connections.read("400: Client other closed its connection.")
        expectStatus(0, at: 400)
        connections.read("500: Client other closed its connection.")
        expectStatus(0, at: 400)
        connections.read("600: \(BrokerConnectionsTests.connected)")
        expectStatus(1, at: 600)
        connections.endAll(at: Timestamp(millisecondsSinceEpoch: 700_000))
        expectStatus(0, at: 700)
        connections.endAll(at: Timestamp(millisecondsSinceEpoch: 800_000))
        expectStatus(0, at: 700)
    }
}
