import KiiPushCore

final class Broker: Sendable {
    struct Settings: Sendable {
        var files: BrokerFiles
        var programs: Programs
        /// The ports that the user requires; 0 for any.
        var ports: BrokerPorts
        /// The ports to try where ``ports`` has 0.
        var preferredPorts: BrokerPorts
        var persistence: BrokerPersistence
        var publisher: BrokerCredential
        var usernames: Set<String>
        var presence: BrokerPresence
        /// mosquitto inherits this lock, and so holds the lock even if this process ends earlier.
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

    static func start(_ settings: Settings) async throws -> Broker {
        let thread = PollThread<Message>(name: "kii-broker")
        return try await withCheckedThrowingContinuation { continuation in
            do {
                // mosquitto ends with this thread (PR_SET_PDEATHSIG), so the thread has to live as long as mosquitto.
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

    /// Calls `completion` once, usually on another thread: with `true` when the broker accepts the clients, with
    /// `false` after a failure.
    func grant(_ credentials: [BrokerCredential], completion: @escaping @Sendable (Bool) -> Void) {
        guard !credentials.isEmpty else { return completion(true) }
        if !self.thread.send(.grant(credentials, completion)) { completion(false) }
    }

    func revoke(_ usernames: [String]) {
        guard !usernames.isEmpty else { return }
        self.thread.send(.revoke(usernames))
    }

    func stop() async {
        await withCheckedContinuation { continuation in
            if !self.thread.send(.stop { continuation.resume() }) { continuation.resume() }
        }
    }
}
