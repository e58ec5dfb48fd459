/// One agent's state, in memory and where it is kept.
///
/// What a full disk keeps from being written is used from memory, told by an event, and written with the next change.
/// What is read from memory is thereby never older than the file.
final class AgentStateStore: Sendable {
    private struct Held {
        var state: AgentState?
        /// Why the file lacks the latest change.
        var failure: FileError?
        /// Whether the file has any state of this agent.
        var isOnFile = false
        /// Whether the token was got here and is not on file yet.
        var hasNewToken = false
    }

    private let place: any AgentStatePlace
    private let loop: EventLoop
    private let hub: EventHub
    private let held = Locked(Held())

    init(place: any AgentStatePlace, loop: EventLoop, hub: EventHub) {
        self.place = place
        self.loop = loop
        self.hub = hub
    }

    var path: String { self.place.path }

    /// The state as it is now; `nil` when there is none.
    var current: AgentState? { self.held.withLock { $0.state } }

    /// Why the file lacks the latest change; `nil` when it has it.
    var failure: FileError? { self.held.withLock { $0.failure } }

    /// What is on file; `nil` when nothing is. Changes nothing here.
    func read() throws(FileError) -> AgentState? { try self.place.load() }

    /// Takes over what was read, unless there are changes that the file lacks.
    func adopt(_ state: AgentState?) {
        self.held.withLock { held in
            if held.failure == nil, !held.hasNewToken { held = Held(state: state, isOnFile: state != nil) }
        }
    }

    /// Begins anew. The file stays until there is something to replace it with.
    func forget() { self.held.withLock { $0 = Held() } }

    /// Takes over a new token, of the principal so far or of another one.
    ///
    /// - Throws: ``FileError`` when it could not be written; `TransportError` with code `shutDown`.
    func take(_ token: AccessToken, of principal: Principal, app: KiiApp, account: String) async throws {
        self.held.withLock { held in
            if held.state?.principal == principal {
                held.state?.token = token
            } else {
                var next = AgentState(
                    appID: app.appID, account: account, principal: principal, token: token, issuer: app.tokenIssuer)
                if let former = held.state { next.follow(former) }
                held.state = next
            }
            held.hasNewToken = true
        }
        try await self.save()
    }

    /// Changes the state, and the file unless it stays the same.
    ///
    /// - Throws: ``PushAgentError/file(_:)`` when nothing of this agent is on file and nothing can be written;
    ///   `TransportError` with code `shutDown`.
    func update(_ change: @Sendable (inout AgentState) -> Void) async throws {
        let (isChanged, isUnsaved) = self.apply(change)
        guard isChanged || isUnsaved else { return }
        do {
            try await self.save()
        } catch is FileError {
            try self.requireFile()
        }
    }

    /// As ``update(_:)``, on the loop's thread; a failure is told by the event alone.
    func updateOnLoop(_ change: (inout AgentState) -> Void) {
        if self.apply(change).isChanged { self.write { _ in } }
    }

    /// - Returns: whether the state is another one now, and whether the one before could not be written.
    private func apply(_ change: (inout AgentState) -> Void) -> (isChanged: Bool, isUnsaved: Bool) {
        self.held.withLock { held in
            guard var next = held.state else { return (false, false) }
            change(&next)
            defer { held.state = next }
            return (next != held.state, held.failure != nil)
        }
    }

    /// Refuses to go on when nothing of this agent could ever be written.
    func requireFile() throws(PushAgentError) {
        let failure = self.held.withLock { $0.isOnFile ? nil : $0.failure }
        if let failure { throw .file(failure) }
    }

    /// Writes what the file lacks, if it lacks anything.
    func saveIfNeeded() async throws {
        if self.failure != nil { try await self.save() }
    }

    // On the loop's thread, since writing blocks. What is written is what holds then: of two changes the later one must
    // not be overwritten by the earlier, or a token that works once is lost.
    private func save() async throws {
        let written = OneShot<Result<Void, any Error>>()
        let isAccepted = self.loop.submit { self.write { written.resume($0.mapError { $0 }) } }
        if !isAccepted { written.resume(.failure(TransportError.shutDown)) }
        try await written.value().get()
    }

    private func write(completion: @escaping (Result<Void, FileError>) -> Void) {
        guard var state = self.current else { return completion(.success(())) }
        if !self.held.withLock({ $0.hasNewToken }), let saved = try? self.read(), saved.isOfSameOwner(as: state) {
            // Another process of this profile may have got a newer one meanwhile.
            state.token = saved.token
        }
        self.place.save(state) { [state] result in
            switch result {
            case .success:
                // One that came while this was being written has its own turn.
                self.held.withLock { if $0.state?.token == state.token { $0.hasNewToken = false } }
                self.note(nil)
            case .failure(let error): self.note(error)
            }
            completion(result)
        }
    }

    private func note(_ failure: FileError?) {
        let before = self.held.withLock { held in
            defer {
                held.failure = failure
                held.isOnFile = held.isOnFile || failure == nil
            }
            return held.failure
        }
        if (failure == nil) != (before == nil) { self.hub.emit(saving: self.path, failure) }
    }
}
