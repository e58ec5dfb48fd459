/// Keeps one principal's token valid, for any number of tasks.
///
/// ```swift
/// let session = KiiSession(client: client, signIn: {
///     try await client.login(.user(name: "alice", password: password))
/// })
/// try await session.subscribe(to: .topic(Topic("news", in: .app)))
/// ```
///
/// The methods are Kii's calls. Each throws the errors of ``KiiClient`` and of ``token()``; a method lists only further
/// errors.
///
/// A copy shares the token; its retry policy, `client.retry`, may differ.
///
/// The session renews the token before it ends, and once when the cloud refuses it: with the refresh token, or else by
/// signing in. One task renews the token for all waiting tasks. If the cloud may have consumed a refresh token, the
/// session sends it again only as a last resort. It stores a new token before using it.
public struct KiiSession: Sendable {
    /// The client that makes the calls.
    public var client: KiiClient
    private let renewal: TokenRenewal

    /// Makes a session. It gets a token when a call first needs one.
    ///
    /// Neither closure may call the session.
    ///
    /// - Parameters:
    ///   - client: the client for all calls. Its clock decides when a token ends.
    ///   - token: a token that `changed` stored earlier. Default `nil`: the session signs in first.
    ///   - signIn: signs in for a new token; returns `nil` when it has no credentials. Default: `nil`.
    ///   - changed: stores a new token. If it throws, the session uses the token anyway, and stores it again at each
    ///     further call until that succeeds. Default: stores nothing.
    public init(
        client: KiiClient, token: AccessToken? = nil,
        signIn: @escaping @Sendable () async throws -> AccessToken? = { nil },
        changed: @escaping @Sendable (AccessToken) async throws -> Void = { _ in }
    ) {
        self.client = client
        self.renewal = TokenRenewal(client: client, token: token, signIn: signIn, changed: changed)
    }

    var current: AccessToken? { self.renewal.held.withLock { $0?.token } }

    /// A token that is valid as far as the session knows.
    ///
    /// - Throws: the errors of signing in; ``KiiInputError`` when there is neither a token nor a way to sign in; for a
    ///   refresh see ``KiiClient``.
    public func token() async throws -> AccessToken { try await self.renewal.token() }

    package func perform<Answer>(_ call: KiiCall<Answer>) async throws -> Answer {
        try await self.withToken { try await self.client.perform(call, token: $0.token) }
    }

    /// Runs `body` with a token, and once more with another token if the cloud refuses the first. `body` may therefore
    /// run twice; repeating its work before the refused call must do no harm.
    ///
    /// - Throws: the errors of `body` and of ``token()``.
    package func withToken<Output>(_ body: (AccessToken) async throws -> Output) async throws -> Output {
        let token = try await self.token()
        do {
            return try await body(token)
        } catch let refusal as KiiError where refusal.refusesToken {
            return try await body(try await self.renewal.token(after: token, refusal))
        }
    }
}
