import KiiPushCore

/// The emulator's own mosquitto. This class starts it, watches it, adds and removes its clients, and stops it.
final class Broker: Sendable {
    struct Settings: Sendable {
        var files: BrokerFiles
        var programs: Programs
        /// The ports that the user requires; 0 for any.
        var ports: BrokerPorts
        /// Ports to use where they are free and ``ports`` has 0.
        var preferredPorts: BrokerPorts
        var persistence: BrokerPersistence
        var publisher: BrokerCredential
        var usernames: Set<String>
        /// Reads the log that the broker writes.
        var presence: BrokerPresence
        /// A lock that the broker holds while it runs, even if this process ends first.
        var lock: FileLock
        var patience: BrokerPatience
    }

    enum Message: Sendable {
        case grant([BrokerCredential], @Sendable (Bool) -> Void)
        case revoke([String])
        case stop(@Sendable () -> Void)
    }

    let ports: BrokerPorts
    private let thread: PollThread<Message>

    private init(ports: BrokerPorts, thread: PollThread<Message>) {
        self.ports = ports
        self.thread = thread
    }

    /// Starts mosquitto and returns when it accepts connections.
    static func start(_ settings: Settings) async throws -> Broker {
        let thread = PollThread<Message>(name: "kii-broker")
        return try await withCheckedThrowingContinuation { continuation in
            do {
                // The thread lives until mosquitto is to stop: mosquitto ends with it (PR_SET_PDEATHSIG).
                try thread.run {
                    do throws(EmulatorError) {
                        let supervisor = try BrokerSupervisor(settings)
                        continuation.resume(returning: Broker(ports: supervisor.ports, thread: thread))
                        return supervisor
                    } catch {
                        continuation.resume(throwing: error)
                        return nil
                    }
                }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }

    /// Adds clients and calls `completion` once, on another thread: with `true` when the broker accepts them all.
    func grant(_ credentials: [BrokerCredential], completion: @escaping @Sendable (Bool) -> Void) {
        guard !credentials.isEmpty else { return completion(true) }
        if !self.thread.send(.grant(credentials, completion)) { completion(false) }
    }

    /// Removes clients; the broker cuts their connections.
    func revoke(_ usernames: [String]) {
        guard !usernames.isEmpty else { return }
        // A stopped broker admits nobody anyway.
        self.thread.send(.revoke(usernames))
    }

    func stop() async {
        await withCheckedContinuation { continuation in
            if !self.thread.send(.stop { continuation.resume() }) { continuation.resume() }
        }
    }
}
