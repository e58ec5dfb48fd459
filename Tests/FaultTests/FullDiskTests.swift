import Foundation
import Glibc
import KiiPushCore
import TestSupport
import Testing

/// A full disk stops acknowledgements, says so, and loses nothing.
@Suite struct FullDiskTests {
    @Test(.enabled(if: geteuid() == 0, "mounting a small file system takes root"), .timeLimit(.minutes(15)))
    func nothingIsAcknowledgedThatCouldNotBeStored() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("kii-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try #require(mount("tmpfs", directory, "tmpfs", 0, "size=24m,mode=0700") == 0)
        defer { umount2(directory, Int32(MNT_DETACH)) }
        let ballast = "\(directory)/ballast"
        try #require(FileManager.default.createFile(atPath: ballast, contents: Data(count: 22 << 20)))

        let messages = 400
        try await withFakeBroker(in: directory) { broker, runtime, configuration in
            let handler = RecordingHandler()
            let agent = PushAgent(runtime: runtime, configuration: configuration, handler: handler)
            let events = agent.events
            try await whileRunning(agent) {
                async let acknowledged = broker.play { broker in
                    let connection = try broker.accept()
                    try connection.open(sessionPresent: true)
                    let padding = String(repeating: "x", count: 8000)
                    for number in 1...messages {
                        try connection.send(
                            .publish(
                                MQTTPublish(
                                    topic: "topic-1", payload: Array("{\"n\":\(number),\"p\":\"\(padding)\"}".utf8),
                                    qos: .atLeastOnce, packetID: UInt16(number))))
                    }
                    return try connection.receiveAcknowledgements(messages)
                }
                guard
                    case .storageFailed(let reason)? = await firstEvent(
                        events,
                        where: { event in
                            if case .storageFailed = event { true } else { false }
                        })
                else {
                    Issue.record("the disk did not fill up")
                    return
                }
                #expect(reason.contains("free some space"))
                try FileManager.default.removeItem(atPath: ballast)
                _ = await firstEvent(events) { if case .storageRecovered = $0 { true } else { false } }
                #expect(try await acknowledged == (1...messages).map(UInt16.init))
                let calls = await handler.next(messages)
                #expect(Set(calls.compactMap { $0.message.rawPayload["n"]?.int64 }).count == messages)
            }
        }
    }
}
