import KiiPushCore
import KiiPushEmulator

/// Where a bench's messages come from: a cloud, and the broker that it gives them to.
protocol MessageSource: Sendable {
    /// Sends a direct push `{"n": number}` for each number, and returns those that the broker has acknowledged.
    func send(_ numbers: some Sequence<Int> & Sendable) async throws -> Set<Int>
    /// Publishes these payloads as they are; `true` when the broker has acknowledged all.
    func publish(_ payloads: [[UInt8]]) async -> Bool
    /// Ends the broker with SIGKILL. It is started again with what it kept, though it may take a while.
    func killBroker() async throws
}

/// The emulator, with the REST API and a mosquitto of its own.
struct EmulatorSource: MessageSource {
    let emulator: Emulator
    let sender: Sender
    let topic: String

    func send(_ numbers: some Sequence<Int> & Sendable) async throws -> Set<Int> {
        try await self.sender.send(numbers)
    }

    func publish(_ payloads: [[UInt8]]) async -> Bool { await self.emulator.publish(payloads, on: self.topic) }

    func killBroker() async throws {
        guard let broker = BrokerProcess.current(of: self.emulator) else { throw FaultError("no mosquitto is running") }
        broker.kill()
    }
}
