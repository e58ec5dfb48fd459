import KiiPushEmulator
import Testing

/// Who is connected, from the lines that mosquitto writes.
@Suite struct BrokerConnectionsTests {
    private func usernames(after lines: String...) -> Set<String> {
        var connections = BrokerConnections()
        for line in lines { connections.read("1795212541: \(line)") }
        return connections.usernames
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

    @Test func aLineWithoutATimeIsNoLine() {
        var connections = BrokerConnections()
        connections.read("Client")
        connections.read("")
        #expect(connections.usernames.isEmpty)
    }
}
