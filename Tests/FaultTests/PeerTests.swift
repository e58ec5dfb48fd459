import Faults
import Testing

/// The harness detects a loss: `mosquitto_sub` acknowledges messages that it has only written to a pipe.
@Suite struct PeerTests {
    private static let worker = """
        mosquitto_sub -h "$1" -p "$2" -i "$3" -t "$4" -u "$5" -P "$MQTT_PASSWORD" -q 1 -c | while read -r line; do
            number=${line#*'"n":'}
            number=${number%%[!0-9]*}
            echo "began $number 0" >> "$6"
            sleep 0.002
            echo "ended $number 0" >> "$6"
        done
        """

    @Test func aClientThatAcknowledgesFirstLosesMessages() async throws {
        let scenario = try #require(Scenario.forPeers(.quick).first { $0.name == "kill" })
        let peer = ReceiverKind.peer(
            "mosquitto_sub | worker", program: "bash", arguments: ["-c", Self.worker, "worker"],
            // On a busy machine the worker may stand still for a while.
            patience: .seconds(60))
        let outcome = try await scenario.run(with: peer, seed: 1)
        #expect(outcome.lost > 0)
        #expect(outcome.lost < outcome.messages)
    }
}
