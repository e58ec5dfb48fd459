import KiiPushCore

/// A mosquitto of the emulator's own: started, watched, told of new clients, and stopped.
final class Broker: Sendable {
    /// What a broker is started with.
    struct Settings: Sendable {
        var files: BrokerFiles
        var programs: Programs
        /// Asked for by the user; 0 for any.
        var ports: BrokerPorts
        /// Taken where they are free and none was asked for.
        var preferredPorts: BrokerPorts
        var persistence: BrokerPersistence
        var publisher: BrokerCredential
        var usernames: Set<String>
        /// Reads the log that the broker writes.
        var presence: BrokerPresence
        /// A lock that the broker holds as long as it runs, whatever becomes of this process.
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

    /// Starts mosquitto and returns when it takes connections.
    static func start(_ settings: Settings) async throws -> Broker {
        let thread = PollThread<Message>(name: "kii-broker")
        return try await withCheckedThrowingContinuation { continuation in
            do {
                // The thread lives as long as mosquitto is wanted: mosquitto ends with it (PR_SET_PDEATHSIG).
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

    /// Lets clients in and calls `completion` once, on another thread: with `true` when the broker accepts them all.
    func grant(_ credentials: [BrokerCredential], completion: @escaping @Sendable (Bool) -> Void) {
        guard !credentials.isEmpty else { return completion(true) }
        if !self.thread.send(.grant(credentials, completion)) { completion(false) }
    }

    /// Locks clients out; the broker cuts their connections.
    func revoke(_ usernames: [String]) {
        guard !usernames.isEmpty else { return }
        // A broker that has stopped lets nobody in anyway.
        self.thread.send(.revoke(usernames))
    }

    /// Stops mosquitto and returns when it has ended.
    func stop() async {
        await withCheckedContinuation { continuation in
            if !self.thread.send(.stop { continuation.resume() }) { continuation.resume() }
        }
    }
}
