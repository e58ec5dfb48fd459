final class TokenRenewal: Sendable {
    private let client: KiiClient
    private let signIn: @Sendable () async throws -> AccessToken?
    private let changed: @Sendable (AccessToken) async throws -> Void
    let held: Locked<HeldToken?>
    private let renewal = SharedWork<AccessToken>()

    init(
        client: KiiClient, token: AccessToken?, signIn: @escaping @Sendable () async throws -> AccessToken?,
        changed: @escaping @Sendable (AccessToken) async throws -> Void
    ) {
        self.client = client
        self.held = Locked(token.map { HeldToken(stored: $0) })
        self.signIn = signIn
        self.changed = changed
    }

    func token() async throws -> AccessToken {
        let now = self.client.now()
        let good = self.held.withLock { held -> AccessToken? in
            guard let held, held.isStored, !held.needsRenewal(at: now) else { return nil }
            return held.token
        }
        if let good { return good }
        return try await self.renewal.result { try await self.renewed() }
    }

    func token(after refused: AccessToken, _ refusal: KiiError) async throws -> AccessToken {
        self.held.withLock { held in
            if held?.token.token == refused.token { held?.isRefused = true }
        }
        while true {
            let next = try await self.token()
            guard next.token == refused.token else { return next }
            // Tries again if `token()` joined a renewal that began before the refusal and only stored the refused
            // token.
            guard self.held.withLock({ $0?.isRefused ?? false }) else { throw refusal }
        }
    }
}

// MARK: - Renewal, one task at a time

extension TokenRenewal {
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
        // The last resort is the old refresh token, which the cloud may refuse as used up.
        if isInDoubt, try await self.refresh(old?.token) { return }
        // Keeps the current token, which the cloud may accept at the next call.
        self.held.withLock { $0?.isRefused = false }
    }

    /// Returns whether there is a new token. Keeps a refused refresh token, since the refusal may be a mistake.
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
            throw Self.notInDoubt(error)
        }
    }

    /// The error concerns only the refresh token. The client has not sent the call that needs the new token, so the
    /// outcome of that call is not in doubt.
    private static func notInDoubt(_ error: any Error) -> any Error {
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
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            // The next call tries again to store the token.
        }
    }
}

extension KiiError {
    fileprivate var isRequestsFault: Bool { (400..<500).contains(self.status) }
}
