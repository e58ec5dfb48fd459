/// One agent's state in memory and on disk.
///
/// If a write fails, as on a full disk, the agent reports an event and continues with the state in memory, unless it
/// has no state on file at all. The next change writes the whole state.
final class AgentStateStore: Sendable {
    private struct Held {
        var state: AgentState?
        var failure: FileError?
        var isOnFile = false
        /// Whether this process has an unwritten new token.
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

    var current: AgentState? { self.held.withLock { $0.state } }

    var failure: FileError? { self.held.withLock { $0.failure } }

    func read() throws(FileError) -> AgentState? { try self.place.load() }

    /// Replaces the state in memory, unless the memory has unwritten changes.
    func adopt(_ state: AgentState?) {
        self.held.withLock { held in
            if held.failure == nil, !held.hasNewToken { held = Held(state: state, isOnFile: state != nil) }
        }
    }

    func forget() { self.held.withLock { $0 = Held() } }

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

    /// Changes the state. Writes it if it changed or an earlier write failed.
    ///
    /// - Throws: ``PushAgentError/file(_:)`` if the write fails and the agent has no state on file.
    func update(_ change: @Sendable (inout AgentState) -> Void) async throws {
        let (isChanged, isUnsaved) = self.apply(change)
        guard isChanged || isUnsaved else { return }
        do {
            try await self.save()
        } catch is FileError {
            try self.requireFile()
        }
    }

    /// If the write fails, only an event reports it.
    func updateOnLoop(_ change: (inout AgentState) -> Void) {
        if self.apply(change).isChanged { self.write { _ in } }
    }

    private func apply(_ change: (inout AgentState) -> Void) -> (isChanged: Bool, isUnsaved: Bool) {
        self.held.withLock { held in
            guard var next = held.state else { return (false, false) }
            change(&next)
            defer { held.state = next }
            return (next != held.state, held.failure != nil)
        }
    }

    func requireFile() throws(PushAgentError) {
        let failure = self.held.withLock { $0.isOnFile ? nil : $0.failure }
        if let failure { throw .file(failure) }
    }

    func saveIfNeeded() async throws {
        if self.failure != nil { try await self.save() }
    }

    // The loop's thread writes, because writing blocks. The thread takes the newest state from memory, so an earlier
    // state does not overwrite a later one.
    private func save() async throws {
        let written = OneShot<Result<Void, any Error>>()
        let isAccepted = self.loop.submit { self.write { written.resume($0.mapError { $0 }) } }
        if !isAccepted { written.resume(.failure(TransportError.shutDown)) }
        try await written.value().get()
    }

    private func write(completion: @escaping (Result<Void, FileError>) -> Void) {
        guard var state = self.current else { return completion(.success(())) }
        if !self.held.withLock({ $0.hasNewToken }), let saved = try? self.read(), saved.isOfSameOwner(as: state) {
            // Another process with the same state file may have obtained a newer token.
            state.token = saved.token
        }
        self.place.save(state) { [state] result in
            switch result {
            case .success:
                // A token that arrived during this write is not on file yet.
                self.held.withLock { if $0.state?.token == state.token { $0.hasNewToken = false } }
                self.note(nil)
            case .failure(let error): self.note(error)
            }
            completion(result)
        }
    }

    private func note(_ failure: FileError?) {
        self.held.withLock { held in
            held.failure = failure
            held.isOnFile = held.isOnFile || failure == nil
        }
        self.hub.emit(saving: self.path, failure)
    }
}
