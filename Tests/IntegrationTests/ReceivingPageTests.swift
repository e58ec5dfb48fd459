import Foundation
import KiiPushCore
import TestSupport
import Testing

@Suite struct ReceivingPageTests {
    @Test func everyBlockIsADeclarationOfTheProgram() throws {
        let program = try DocumentedProgram(page: "receiving.md", example: "ReceivingTour")
        for block in try program.expectBlocks(9, others: ["DesktopHelper"]) {
            #expect(block.hasSuffix("\n}\n") && block.split(separator: "\n").count <= 15, "\(block)")
        }
    }

    @Test func theProgramDoesAllOfIt() async throws {
        try await withTemporaryDirectory { directory in
            try await withFakeBroker(in: directory) { broker, unused, _ in
                await unused.shutdown()
                let tour = ForeignProgram(
                    "env", "KII_APP_ID=\(AgentStateFixture.app.appID)", "KII_APP_KEY=key",
                    "KII_BASE_URL=\(AgentStateFixture.app.baseURL)", "KII_PLAIN_TCP=1",
                    "STATE_DIRECTORY=\(directory)", "XDG_RUNTIME_DIR=\(directory)/run",
                    productsDirectory.appending(path: "ReceivingTour").path
                )
                async let result = tour.run()
                let kept = try await broker.play { broker in
                    let connection = try broker.acceptSession()
                    let payloads = [
                        #"{"msg":"hello"}"#,
                        #"{"aps":{"alert":"Dinner is ready","sound":"chime","badge":2}}"#,
                    ]
                    for (index, payload) in payloads.enumerated() {
                        try connection.send(
                            .publish(
                                MQTTPublish(
                                    topic: "topic-1", payload: Array(payload.utf8), qos: .atLeastOnce,
                                    duplicate: false, packetID: UInt16(index + 1))))
                    }
                    _ = try connection.receiveAcknowledgements(payloads.count)
                    return connection
                }
                let (status, output, errors) = (
                    try await result.status, try await result.output, try await result.errors
                )
                withExtendedLifetime(kept) {}
                #expect(status == 0, "\(errors)")
                var lines = output.split(separator: "\n").map { String($0) }
                // This message has another source, so its line may come at any position.
                lines.removeAll { $0 == "received hello in background" || $0 == "received hello in active" }
                #expect(output.contains("received hello in "))
                #expect(
                    lines == [
                        "showing Dinner is ready with sound chime", "to the front for Dinner is ready",
                        "opened from Dinner is ready", "the user chose reply", "badge 2",
                    ])
            }
        }
    }
}
