#if Postgres
import KiiPushCore

/// The store's connection to the database. A separate thread replaces a broken connection, since connecting blocks.
extension PostgresStore {
    enum ConnectionState {
        case connected(PostgresConnection)
        case away(InboxError)
        case ended
    }

    /// A weak reference, so that the thread that connects does not keep the store alive.
    final class WeakReference {
        weak var store: PostgresStore?

        init(_ store: PostgresStore) { self.store = store }
    }

    /// The pause between a failed attempt to connect and the next attempt.
    private static let pause: Duration = .seconds(1)

    var connection: PostgresConnection? { if case .connected(let connection) = self.state { connection } else { nil } }

    var reasonAway: InboxError {
        if case .away(let error) = self.state { error } else { .away("using a database that was let go of") }
    }

    func connection(of session: PostgresSession) throws(InboxError) -> PostgresConnection {
        try session.connection(on: self.loop) { [weak self] error in self?.broke(error) }
    }

    private func broke(_ error: InboxError) {
        guard case .connected = self.state else { return }
        self.state = .away(error)
        self.connect()
    }

    private func connect() {
        // A new session number, because statements of an earlier attempt may still reach the server.
        self.gateway.session += 1
        let (configuration, gateway, loop, weakSelf) = (self.configuration, self.gateway, self.loop, self.weakSelf)
        let thread = try? OSThread(name: "kii-postgres") {
            let session = Result { () throws(InboxError) in
                try PostgresSession(configuration, resuming: gateway)
            }
            loop.submit { weakSelf.value.store?.resume(session) }
        }
        guard let thread else { return self.connectLater() }
        thread.detach()
    }

    private func connectLater() {
        self.loop.schedule(at: self.loop.now + PostgresStore.pause) { [weak self] in
            if let self, case .away = self.state { self.connect() }
        }
    }

    /// Continues with a new session, which tells whether the unanswered turn was committed.
    private func resume(_ opened: Result<PostgresSession, InboxError>) {
        guard case .away = self.state else { return }
        do throws(InboxError) {
            let session = try opened.get()
            self.state = .connected(try self.connection(of: session))
            self.dead = session.dead
            self.isMoved = true
            self.installations.refresh(session.pendingBytes)
            guard let turn = self.underWay.take() else { return }
            guard session.lastTurn == self.turnNumber else { return self.fail(turn, .away("committing")) }
            self.unclaim(turn)
        } catch {
            self.state = .away(error)
            // Final: another process has taken over, or the database's older contents could give out used numbers.
            guard error.isFinal else { return self.connectLater() }
            if let turn = self.underWay.take() { self.fail(turn, error) }
        }
    }

    /// Makes the rows that the committed turn took in hand wait again: the answer with their contents was lost with the
    /// connection. Then reports the turn as written.
    private func unclaim(_ turn: PostgresTurn) {
        guard turn.takesInHand else { return self.succeed(turn, turn.outcomeWithoutAnswers()) }
        self.underWay = turn
        self.write([(PostgresStatements.unclaim, .init(self.gateway.id, self.turnNumber))]) { answer in
            switch answer {
            case .success:
                guard let turn = self.underWay.take() else { return }
                self.succeed(turn, turn.outcomeWithoutAnswers())
            case .failure(let error):
                guard let connection = self.connection else { return }
                self.state = .away(error)
                connection.abandon(error)
                self.connectLater()
            }
        }
    }
}
#endif
