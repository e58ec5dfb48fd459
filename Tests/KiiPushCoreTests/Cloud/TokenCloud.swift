import KiiPushCore

/// A cloud that issues numbered tokens for one user and accepts only the newest token. Each refresh token works once.
final class TokenCloud: HTTPTransport {
    struct State {
        var issued = 0
        /// Answers to the next token requests, before the cloud's own answers; `nil` passes a request to the cloud.
        var interruptions: [Result<HTTPResponse, TransportError>?] = []
        /// The lifetime in seconds; `nil` leaves `expires_in` out.
        var lifetime: Int?
        var grantsRefreshTokens = true
        var isAnswerLost = false
        var spent: Set<String> = []
        var refreshesAskedFor: [String] = []
        var logins = 0
        var calls: [String] = []
    }

    private let state = Locked(State())

    func change(_ body: (inout State) -> Void) { self.state.withLock { body(&$0) } }

    var logins: Int { self.state.withLock { $0.logins } }
    var refreshesAskedFor: [String] { self.state.withLock { $0.refreshesAskedFor } }
    var calls: [String] { self.state.withLock { $0.calls } }

    func perform(_ request: HTTPRequest) async throws -> HTTPResponse {
        try Task.checkCancellation()
        guard request.url.hasSuffix("/oauth2/token") else { return self.call(request) }
        let body = try JSONValue(parsing: request.body ?? [])
        return try self.state.withLock { state -> Result<HTTPResponse, TransportError> in
            let refreshToken = body["refresh_token"]?.string
            if let refreshToken { state.refreshesAskedFor.append(refreshToken) } else { state.logins += 1 }
            if !state.interruptions.isEmpty, let answer = state.interruptions.removeFirst() { return answer }
            if let refreshToken, refreshToken != "r\(state.issued)" || !state.spent.insert(refreshToken).inserted {
                return .success(.refusal(403, "WRONG_REFRESH_TOKEN"))
            }
            let answer = state.issue()
            return state.isAnswerLost ? .failure(TransportError(.connectionLost, detail: "lost")) : answer
        }.get()
    }

    private func call(_ request: HTTPRequest) -> HTTPResponse {
        let field = request.fields.first { $0.name == "Authorization" }?.value ?? ""
        return self.state.withLock { state in
            state.calls.append(String(field.split(separator: " ").last ?? ""))
            return field == "Bearer t\(state.issued)" ? .status(204) : .refusal(403, "WRONG_TOKEN")
        }
    }
}

extension TokenCloud.State {
    fileprivate mutating func issue() -> Result<HTTPResponse, TransportError> {
        self.issued += 1
        let end = self.lifetime.map { #","expires_in":\#($0)"# } ?? ""
        let refresh = self.grantsRefreshTokens ? #","refresh_token":"r\#(self.issued)""# : ""
        return .success(.status(200, #"{"id":"u1","access_token":"t\#(self.issued)"\#(end)\#(refresh)}"#))
    }
}
