/// Makes Kii's calls for one user, thing or administrator, and keeps the token valid.
///
/// ```swift
/// let session = KiiSession(client: client, signIn: {
///     try await client.login(.user(name: "alice", password: password))
/// })
/// try await session.subscribe(to: .topic(Topic("news", in: .app)))
/// ```
///
/// Each method throws the errors of ``KiiClient`` and of ``token()``. The methods' documentation lists further errors.
///
/// Any number of tasks may use a session. A copy shares the token; its retry policy, `client.retry`, may differ.
///
/// Before a call, the session renews a token that has expired or expires soon. If the cloud refuses the token, the
/// session renews the token and repeats the call once. Renewal uses the refresh token, or else `signIn`, and passes the
/// new token to `changed` before its first use. If the cloud may have used up a refresh token, the session sends that
/// token again only if `signIn` returns `nil`.
public struct KiiSession: Sendable {
    /// The client that makes the calls.
    public var client: KiiClient
    private let renewal: TokenRenewal

    /// Makes a session. The session gets a token at the first call that needs one. `signIn` and `changed` must not call
    /// the session.
    ///
    /// - Parameters:
    ///   - client: the client for all calls.
    ///   - token: a token that `changed` stored earlier. Default `nil`: the session signs in first.
    ///   - signIn: signs in for a new token; returns `nil` if there are no credentials. Default: returns `nil`.
    ///   - changed: stores a new token. If `changed` throws an error other than `CancellationError`, the call uses the
    ///     token anyway, and the next call runs `changed` again. Default: stores nothing.
    public init(
        client: KiiClient, token: AccessToken? = nil,
        signIn: @escaping @Sendable () async throws -> AccessToken? = { nil },
        changed: @escaping @Sendable (AccessToken) async throws -> Void = { _ in }
    ) {
        self.client = client
        self.renewal = TokenRenewal(client: client, token: token, signIn: signIn, changed: changed)
    }

    var current: AccessToken? { self.renewal.held.withLock { $0?.token } }

    /// Returns the current token, and renews it first if necessary.
    ///
    /// - Throws: the errors of signing in and of ``KiiClient/refresh(_:)``; ``KiiInputError`` when there is neither a
    ///   token nor a way to sign in.
    public func token() async throws -> AccessToken { try await self.renewal.token() }

    package func perform<Answer>(_ call: KiiCall<Answer>) async throws -> Answer {
        try await self.withToken { try await self.client.perform(call, token: $0.token) }
    }

    /// Runs `body`, and once more with another token if the cloud refuses the first token.
    package func withToken<Output>(_ body: (AccessToken) async throws -> Output) async throws -> Output {
        let token = try await self.token()
        do {
            return try await body(token)
        } catch let refusal as KiiError where refusal.refusesToken {
            return try await body(try await self.renewal.token(after: token, refusal))
        }
    }
}
