import KiiPushCore
import KiiPushEmulator

/// Where a bench's messages come from: a cloud, and the broker that it gives them to.
protocol MessageSource: Sendable {
    /// Sends a direct push `{"n": number}` for each number, and returns those that the broker has acknowledged.
    func send(_ numbers: some Sequence<Int> & Sendable) async throws -> Set<Int>
    /// Publishes these payloads as they are, to the receiver or on another topic; `true` when the broker has acknowledged
    /// all.
    func publish(_ payloads: [[UInt8]], on topic: String?) async -> Bool
    /// What ends the broker with SIGKILL, at once and from any thread.
    func brokerKiller() throws -> @Sendable () -> Void
    /// Starts a broker that was killed with what it kept, though it may take a while.
    func restartBroker() async throws
    /// How late the broker sends again what was not acknowledged, while what is new comes at once.
    var redeliversAfter: Duration { get }
}

/// The emulator, with the REST API and a mosquitto of its own.
struct EmulatorSource: MessageSource {
    let emulator: Emulator
    let sender: Sender
    let topic: String

    func send(_ numbers: some Sequence<Int> & Sendable) async throws -> Set<Int> {
        try await self.sender.send(numbers)
    }

    func publish(_ payloads: [[UInt8]], on topic: String?) async -> Bool {
        await self.emulator.publish(payloads, on: topic ?? self.topic)
    }

    func brokerKiller() throws -> @Sendable () -> Void {
        guard let broker = BrokerProcess.current(of: self.emulator) else { throw FaultError("no mosquitto is running") }
        return { broker.kill() }
    }

    // The emulator does that itself.
    func restartBroker() async throws {}

    var redeliversAfter: Duration { .zero }
}
