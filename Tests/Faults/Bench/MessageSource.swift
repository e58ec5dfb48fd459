import KiiPushCore
import KiiPushEmulator

/// The source of a bench's messages: a cloud, and its broker.
protocol MessageSource: Sendable {
    /// Sends a direct push `{"n": number}` for each number, and returns the numbers that the broker has acknowledged.
    func send(_ numbers: some Sequence<Int> & Sendable) async throws -> Set<Int>
    /// Publishes these payloads unchanged, to the receiver or on another topic. Returns `true` if the broker has
    /// acknowledged all.
    func publish(_ payloads: [[UInt8]], on topic: String?) async -> Bool
    /// A closure that kills the broker with SIGKILL, from any thread.
    func brokerKiller() throws -> @Sendable () -> Void
    /// Starts a killed broker with its stored state, which may take a while.
    func restartBroker() async throws
    /// Delay of the broker's redelivery, while new messages come at once.
    var redeliversAfter: Duration { get }
}

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

    // The emulator restarts its broker by itself.
    func restartBroker() async throws {}

    var redeliversAfter: Duration { .zero }
}
