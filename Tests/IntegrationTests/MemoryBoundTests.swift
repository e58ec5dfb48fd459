import Foundation
import KiiPushCore
import TestSupport
import Testing

@Suite struct MemoryBoundTests {
    /// Runs `FloodedAgent` against a broker, and returns the process's peak in MiB after `flood`.
    private func peak(
        inbox: String, handler: String, inboxBytes: Int = 0,
        flood: @escaping @Sendable (FakeConnection) throws -> Void
    ) async throws -> Int {
        try await withTemporaryDirectory { directory in
            let broker = try FakeBroker()
            try AgentStateFixture(port: broker.port, topic: "t", username: "name", password: "password")
                .write(to: directory)
            let program = productsDirectory.appendingPathComponent("FloodedAgent").path
            let agent = try ChildProgram([program, directory, inbox, handler, "\(inboxBytes)"])
            return try await broker.play { broker in
                let connection = try broker.acceptSession()
                try flood(connection)
                let peak = try Self.peak(of: agent.processID)
                print("peak of \(inbox) inbox, handler \(handler), \(inboxBytes): \(peak) MiB")
                return peak
            }
        }
    }

    private static func peak(of process: Int32) throws -> Int {
        // proc_pid_status(5)
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(line.split(separator: " ").dropFirst().first.flatMap { Int($0) }) / 1024
    }

    private static func publish(_ payload: some StringProtocol, _ packetID: Int) -> MQTTPacket {
        .publish(
            MQTTPublish(
                topic: "t", payload: Array(payload.utf8), qos: .atLeastOnce, packetID: UInt16(packetID)))
    }

    private static func padded(_ count: Int) -> String { #"{"p":"\#(String(repeating: "x", count: count))"}"# }

    private static func tinyMessages() throws -> [UInt8] {
        var bytes: [UInt8] = []
        var number = 0
        while bytes.count < 1 << 20 {
            number += 1
            try Self.publish("{}", number % 65_535 + 1).encode(into: &bytes)
        }
        return bytes
    }

    /// The agent keeps a handled message until the broker proves that it has the acknowledgement. This broker never
    /// proves it.
    @Test func handledMessagesWhoseAcknowledgementIsNotProvenTakeNoPayload() async throws {
        let peak = try await self.peak(inbox: "memory", handler: "answers") { connection in
            let payload = Self.padded(60_000)
            for number in 1...5000 {
                try connection.send(Self.publish(payload, number))
                // Each message is sent after the acknowledgement of the one before, so none waits.
                guard case .puback = try connection.receiveSkippingPings() else {
                    throw TestFailure("no acknowledgement")
                }
            }
        }
        #expect(peak < 120 * memoryScale)
    }

    @Test func tinyMessagesThatWaitInMemoryCountAsWhatTheyTake() async throws {
        let tiny = try Self.tinyMessages()
        let peak = try await self.peak(inbox: "memory", handler: "holds") { connection in
            _ = try connection.fill(with: tiny, beyond: 64 << 10, patience: 5)
        }
        #expect(peak < 80 * memoryScale)
    }

    @Test func tinyMessagesThatCannotBeStoredCountAsWhatTheyTake() async throws {
        let tiny = try Self.tinyMessages()
        let peak = try await self.peak(inbox: "file", handler: "holds", inboxBytes: 1 << 20) { connection in
            _ = try connection.fill(with: tiny, beyond: 64 << 10, patience: 5)
        }
        #expect(peak < 80 * memoryScale)
    }

    /// 200 MB of messages wait in the file, and a part of them in memory too.
    @Test func messagesInMemoryAreBoundedInBytes() async throws {
        let peak = try await self.peak(inbox: "file", handler: "holds") { connection in
            let payload = Self.padded(200_000)
            for number in 1...1000 {
                try connection.send(Self.publish(payload, number))
                guard case .puback = try connection.receiveSkippingPings() else {
                    throw TestFailure("no acknowledgement")
                }
            }
        }
        #expect(peak < 120 * memoryScale)
    }
}

extension FakeConnection {
    fileprivate func receiveSkippingPings() throws -> MQTTPacket {
        while true {
            let packet = try self.receive()
            if case .pingreq = packet { continue }
            return packet
        }
    }
}
