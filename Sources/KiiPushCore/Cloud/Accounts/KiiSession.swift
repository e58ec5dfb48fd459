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
/// A copy shares the token, and may have a retry policy of its own, its `client.retry`.
///
/// The token is renewed ahead of its end, and once when the cloud refuses it: by its refresh token, else by signing in.
/// One task renews for all that wait. A refresh token is never used again once the cloud may have taken it, unless
/// nothing else is left to try. A new token is stored before anybody uses it.
public struct KiiSession: Sendable {
    /// What calls are made with.
    public var client: KiiClient
    private let renewal: TokenRenewal

    /// Makes a session; nothing happens before a token is needed.
    ///
    /// - Parameters:
    ///   - client: The client for all calls. Its clock decides when a token ends.
    ///   - token: A token from where `changed` stored it. Default `nil`: the session begins by signing in.
    ///   - signIn: Gets a token without one, or `nil` when there is nothing to sign in with. Default: `nil`.
    ///   - changed: Stores a new token. When it throws, the token is used all the same, and every further call
    ///     stores it again until that works. Default: stores nothing.
    ///
    /// Neither closure may call the session.
    public init(
        client: KiiClient, token: AccessToken? = nil,
        signIn: @escaping @Sendable () async throws -> AccessToken? = { nil },
        changed: @escaping @Sendable (AccessToken) async throws -> Void = { _ in }
    ) {
        self.client = client
        self.renewal = TokenRenewal(client: client, token: token, signIn: signIn, changed: changed)
    }

    /// The token in use, good or not; `nil` before the first one.
    var current: AccessToken? { self.renewal.held.withLock { $0?.token } }

    /// A token that is good as far as anyone knows.
    ///
    /// - Throws: What signing in threw; ``KiiInputError`` when there is no token and nothing to sign in with; for a
    ///   refresh see ``KiiClient``.
    public func token() async throws -> AccessToken { try await self.renewal.token() }

    /// Makes one call with the session's token.
    package func perform<Answer>(_ call: KiiCall<Answer>) async throws -> Answer {
        try await self.withToken { try await self.client.perform(call, token: $0.token) }
    }

    /// Runs `body` with a token, and once more with another one if the cloud refuses the first. `body` may therefore
    /// run twice; what it did before its refused call should do no harm the second time.
    ///
    /// - Throws: What `body` threw; otherwise as ``token()``.
    package func withToken<Output>(_ body: (AccessToken) async throws -> Output) async throws -> Output {
        let token = try await self.token()
        do {
            return try await body(token)
        } catch let refusal as KiiError where refusal.refusesToken {
            return try await body(try await self.renewal.token(after: token, refusal))
        }
    }
}
