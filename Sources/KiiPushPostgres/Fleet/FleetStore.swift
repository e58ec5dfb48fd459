#if Postgres
import CPostgres
import KiiPushCore

/// The location of a fleet's messages and agents: one or more databases that all gateways can reach.
public struct FleetStore: Sendable {
    package let targets: [String]

    /// A PostgreSQL database, version 15 or later. A database on another machine must show a certificate for its name,
    /// signed by an authority that this machine trusts (`sslmode=verify-full`). Weaker settings are refused.
    ///
    /// - Parameter target: a URL (`postgres://user@host/database`) or keywords (`host=… dbname=…`), as libpq reads
    ///   them. libpq takes missing values from its environment variables. A password belongs into a password file:
    ///   `passfile=`, `PGPASSFILE`, or the credential `pgpass` of systemd.
    /// - Source: "Connection Strings" in the manual of libpq.
    public static func postgres(_ target: String) -> FleetStore { FleetStore(targets: [target]) }

    /// Several independent databases, for more messages than one database can write. The hash of a new agent's name
    /// selects the agent's database, which never changes. If a database cannot be reached, only its agents stop
    /// (``Fleet/receive(as:configuration:handler:observer:tell:)``).
    ///
    /// - Parameter targets: one or more, each as for ``postgres(_:)-(String)``. Every process must use the same order.
    public static func postgres(_ targets: [String]) -> FleetStore { FleetStore(targets: targets) }

    package var isOne: Bool { self.targets.count == 1 }

    /// Whether an address holds a password. Other users can see an argument's password in the list of processes.
    package var holdsPassword: Bool {
        self.targets.contains { (try? PostgresAddress($0))?.hasPassword ?? false }
    }
}

final class GatewayStore: SharedStore {
    private let target: String
    let gateway: String
    let lease: Duration
    private let opened = Locked<LoopIsolated<PostgresStore>?>(nil)
    let isReceiving = Locked(false)
    private let failure = Locked<InboxError?>(nil)

    init(_ target: String, gateway: String, lease: Duration) {
        (self.target, self.gateway, self.lease) = (target, gateway, lease)
    }

    var postgres: LoopIsolated<PostgresStore>? { self.opened.withLock { $0 } }
    var isAway: Bool { self.failure.withLock { $0?.kind == .away } }

    func open(
        for configuration: PushRuntime.Configuration, on loop: EventLoop,
        completion: @escaping @Sendable (Result<any Store, PushAgentError>) -> Void
    ) {
        let settings = self.settings(configuration)
        do throws(SystemError) {
            try OSThread(name: "kii-postgres") {
                let session = Result { () throws(InboxError) in try PostgresSession(settings) }
                _ = loop.submit {
                    completion(session.flatMap { self.begin($0, settings, loop) }.mapError { self.fail($0) })
                }
            }.detach()
        } catch {
            completion(.failure(self.fail(.away("starting a thread"))))
        }
    }

    private func begin(
        _ session: PostgresSession, _ settings: PostgresConfiguration, _ loop: EventLoop
    ) -> Result<any Store, InboxError> {
        Result { () throws(InboxError) in
            let store = try PostgresStore(session, settings, on: loop)
            self.opened.withLock { $0 = LoopIsolated(confining: store, to: loop) }
            return store
        }
    }

    private func fail(_ error: InboxError) -> PushAgentError {
        self.failure.withLock { $0 = error }
        guard case .nameInUse(let host, let processID, _) = error.kind else {
            return PushAgentError(error)
        }
        return .gatewayInUse(name: self.gateway, host: host, processID: processID)
    }

    private func settings(_ configuration: PushRuntime.Configuration) -> PostgresConfiguration {
        var settings = PostgresConfiguration(target: self.target, gateway: self.gateway)
        settings.lease = self.lease
        settings.keepsDoneFor = configuration.bounds.handledKeptFor
        settings.keepsDead = configuration.bounds.deadLetterTally
        settings.longestDelay = configuration.longestRetryDelay
        settings.clocks = configuration.environment.clocks
        return settings
    }
}
#endif
