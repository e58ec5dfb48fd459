import Foundation
import KiiPushCore
import TestSupport
import Testing

@Suite struct UnusableTransportTests {
    @Test func aCertificateAuthorityFileThatHoldsNoneEndsTheRunAtOnce() async throws {
        try await withTemporaryDirectory { directory in
            let file = "\(directory)/authority.pem"
            try Data("garbage".utf8).write(to: URL(fileURLWithPath: file))
            try await withFakeBroker(in: directory, configure: { $0.certificateAuthorityFile = file }) {
                broker, runtime, configuration in
                var configuration = configuration
                configuration.usesTLS = true
                let state = "\(directory)/agents/default.json"
                let json = try JSONValue(parsing: try #require(try PrivateFile.read(state)))
                let endpoint = (json["endpoint"]?.members ?? []).map {
                    ($0.key, $0.key == "portSSL" ? JSONValue(Int(broker.port)) : $0.value)
                }
                try change("endpoint", to: .object(endpoint), in: state)
                let agent = PushAgent(
                    runtime: runtime, configuration: configuration, handler: RecordingHandler(), reconnect: .quick)
                let events = agent.events
                let error = await #expect(throws: TransportError.self) {
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        group.addTask { try await agent.run() }
                        // Three lost connections show that the run does not end.
                        group.addTask {
                            var losses = 0
                            for await event in events {
                                if case .disconnected = event { losses += 1 }
                                if losses == 3 { break }
                            }
                        }
                        try await group.next()
                        group.cancelAll()
                    }
                }
                #expect(error?.code == .invalidConfiguration)
                #expect(error?.description.contains(file) == true)
            }
        }
    }
}
