/// One principal's token, kept good for any number of tasks.
///
/// ```swift
/// let session = KiiSession(client: client, signIn: {
///     try await client.login(.user(name: "alice", password: password))
/// })
/// try await session.subscribe(to: .topic(Topic("news", in: .app)))
/// ```
///
/// Its methods are Kii's calls. Each throws what ``KiiClient`` lists, and what ``token()`` throws; further errors stand
/// at the method.
///
/// The token is renewed ahead of its end, and once when the cloud refuses it: by its refresh token, else by signing in.
/// One task renews for all that wait. A refresh token is never used again once the cloud may have taken it, unless
/// nothing else is left to try. A new token is stored before anybody uses it.
public final class KiiSession: Sendable {
    /// What calls are made with.
    public let client: KiiClient
    private let signIn: @Sendable () async throws -> AccessToken?
    private let changed: @Sendable (AccessToken) async throws -> Void
    private let held: Locked<HeldToken?>
    private let notStored = Locked<(any Error)?>(nil)
    private let renewal = SharedWork<AccessToken>()

    /// Makes a session; nothing happens before a token is needed.
    ///
    /// - Parameters:
    ///   - client: What calls are made with. Its clock decides when a token ends.
    ///   - token: A token from where `changed` stored it. Default `nil`: the session begins by signing in.
    ///   - signIn: Gets a token without one, or `nil` when there is nothing to sign in with. Default: `nil`.
    ///   - changed: Stores a new token. When it throws, the token is used all the same, ``storageError`` tells, and every
    ///     further call stores it again until that works. Default: stores nothing.
    ///
    /// Neither closure may call the session.
    public init(
        client: KiiClient,
        token: AccessToken? = nil,
        signIn: @escaping @Sendable () async throws -> AccessToken? = { nil },
        changed: @escaping @Sendable (AccessToken) async throws -> Void = { _ in }
    ) {
        self.client = client
        self.held = Locked(token.map { HeldToken(stored: $0) })
        self.signIn = signIn
        self.changed = changed
    }

    /// Why the token in use is not stored; `nil` when it is.
    public var storageError: (any Error)? { self.notStored.withLock { $0 } }

    /// The token in use, good or not; `nil` before the first one.
    var current: AccessToken? { self.held.withLock { $0?.token } }

    /// A token that is good as far as anyone knows.
    ///
    /// - Throws: What signing in threw; ``KiiInputError`` when there is no token and nothing to sign in with; for a
    ///   refresh see ``KiiClient``.
    public func token() async throws -> AccessToken {
        let now = self.client.now()
        let good = self.held.withLock { held -> AccessToken? in
            guard let held, held.isStored, !held.needsRenewal(at: now) else { return nil }
            return held.token
        }
        if let good { return good }
        return try await self.renewal.result { try await self.renewed() }
    }

    /// Makes one call with the session's token.
    package func perform<Answer>(_ call: KiiCall<Answer>) async throws -> Answer {
        try await self.withToken { try await self.client.perform(call, token: $0.token) }
    }

    /// Runs `body` with a token, and once more with another one if the cloud refuses the first.
    ///
    /// `body` may therefore run twice; what it did before its refused call should do no harm the second time.
    ///
    /// - Throws: What `body` threw; otherwise as ``token()``.
    package func withToken<Output>(_ body: (AccessToken) async throws -> Output) async throws -> Output {
        let token = try await self.token()
        do {
            return try await body(token)
        } catch let refusal as KiiError where refusal.refusesToken {
            return try await body(try await self.token(after: token, refusal))
        }
    }

    private func token(after refused: AccessToken, _ refusal: KiiError) async throws -> AccessToken {
        self.held.withLock { held in
            if held?.token.token == refused.token { held?.isRefused = true }
        }
        while true {
            let next = try await self.token()
            guard next.token == refused.token else { return next }
            // What was waited for may have been a mere storing, which began before the refusal.
            guard self.held.withLock({ $0?.isRefused ?? false }) else { throw refusal }
        }
    }
}

// MARK: - Renewal, one task at a time

extension KiiSession {
    private func renewed() async throws -> AccessToken {
        let now = self.client.now()
        let held = self.held.withLock { $0 }
        if held?.needsRenewal(at: now) ?? true { try await self.renew(held) }
        guard let current = self.held.withLock({ $0 }) else {
            throw KiiInputError(.token, rule: "given to the session, or what signing in returns")
        }
        if !current.isStored { try await self.store(current.token) }
        return current.token
    }

    private func renew(_ old: HeldToken?) async throws {
        let isInDoubt = old?.isRefreshInDoubt ?? false
        if !isInDoubt, try await self.refresh(old?.token) { return }
        if let token = try await self.signIn() { return self.adopt(token) }
        // Nothing else is left, and the cloud refuses it if it was used up.
        if isInDoubt, try await self.refresh(old?.token) { return }
        // The token that is there may do yet, until the cloud refuses it to the next call.
        self.held.withLock { $0?.isRefused = false }
    }

    /// - Returns: whether there is a new token; not, when there was no refresh token or the cloud refused it. One that was
    ///   refused is kept, and tried again when nothing else is left: the refusal may have been a mistake.
    private func refresh(_ old: AccessToken?) async throws -> Bool {
        guard let old, old.refreshToken != nil else { return false }
        self.held.withLock { $0?.isRefreshInDoubt = true }
        do {
            self.adopt(try await self.client.refresh(old))
            return true
        } catch let error as KiiError where error.refusesRefreshToken {
            return false
        } catch {
            let isInDoubt = RequestFailure(error)?.isInDoubt ?? !((error as? KiiError)?.isRequestsFault ?? false)
            self.held.withLock { $0?.isRefreshInDoubt = isInDoubt }
            throw Self.withoutDoubt(error)
        }
    }

    /// The error of a refresh as one of the call that it was for, which was not made: the refresh token, which alone is
    /// in doubt, is the session's own matter.
    private static func withoutDoubt(_ error: any Error) -> any Error {
        switch error {
        case var error as KiiError:
            error.isInDoubt = false
            return error
        case var error as TransportError:
            error.isInDoubt = false
            return error
        default: return error
        }
    }

    private func adopt(_ token: AccessToken) {
        let held = HeldToken(new: token, at: self.client.now())
        self.held.withLock { $0 = held }
    }

    private func store(_ token: AccessToken) async throws {
        do {
            try await self.changed(token)
            self.held.withLock { $0?.isStored = true }
            self.notStored.withLock { $0 = nil }
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            self.notStored.withLock { $0 = error }
        }
    }
}

extension KiiError {
    /// Whether the cloud found fault with the request, and so did nothing.
    fileprivate var isRequestsFault: Bool { (400..<500).contains(self.status) }
}
