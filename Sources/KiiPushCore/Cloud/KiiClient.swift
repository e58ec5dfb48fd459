/// Calls one Kii app's REST API.
///
/// The client has the calls that need no token, such as registering and signing in. ``KiiSession`` has all others. Any
/// number of tasks may use a client at once.
///
/// ## Errors
/// - ``KiiInputError``: a value is invalid. The client sent nothing.
/// - ``KiiError``: the answer has an error status, at the last attempt if there were several.
/// - ``KiiResponseError``: the answer differs from Kii's documentation.
/// - ``TransportError``: no complete answer arrived.
/// - `CancellationError`: the task was cancelled.
///
/// If `isInDoubt` of a ``KiiError`` or ``TransportError`` is true, the cloud may have carried out the call. A
/// repetition may then have a second effect, such as a second message.
public struct KiiClient: Sendable {
    package let app: KiiApp
    /// The policy for repeating failed calls.
    public var retry: RetryPolicy
    private let transport: any HTTPTransport
    private let timeout: Duration
    package let now: @Sendable () -> Timestamp

    package init(
        app: KiiApp, transport: any HTTPTransport, timeout: Duration = .seconds(30),
        retry: RetryPolicy = RetryPolicy(), now: @escaping @Sendable () -> Timestamp = Timestamp.now
    ) {
        (self.app, self.transport, self.timeout, self.retry, self.now) = (app, transport, timeout, retry, now)
    }

    package func perform<Answer>(_ call: KiiCall<Answer>, token: Secret? = nil) async throws -> Answer {
        let path = try call.encodedPath(in: self.app)
        let root = try self.app.checkedBaseURL(of: call.service)
        let request = try self.request(for: call, url: root + path, token: token)
        let operation = KiiOperation(method: call.method, path: path)
        do {
            return try await self.answer(to: request, call, operation, token: token)
        } catch var error as TransportError {
            error.subject = "\(operation) at \(root)"
            error.isInDoubt = !call.isIdempotent && error.isOutcomeUnknown
            throw error
        }
    }

    private func answer<Answer>(
        to request: HTTPRequest, _ call: KiiCall<Answer>, _ operation: KiiOperation, token: Secret?
    ) async throws -> Answer {
        try await self.retry.repeating(isIdempotent: call.isIdempotent) { isInDoubt in
            let answer = try await self.transport.perform(request)
            let response = KiiResponse(operation: operation, http: answer, receivedAt: self.now())
            if call.statuses.contains(answer.status) { return try call.read(response) }
            guard !(200..<300).contains(answer.status) else {
                // A proxy or a network's sign-in page may send such a status.
                let words = "has a status that this call never has"
                throw KiiResponseError(.other(words), of: operation, status: answer.status)
            }
            let secrets = call.secrets + [self.app.appKey, self.app.basicCredentials] + (token.map { [$0] } ?? [])
            var error = KiiError(response, withholding: secrets)
            error.isInDoubt = !call.isIdempotent && error.isOutcomeUnknown
            if let answer = call.answerFromRefusal(error) { return answer }
            if isInDoubt, let answer = call.answerFromRepetition(error) { return answer }
            throw error
        }
    }

    private func request<Answer>(
        for call: KiiCall<Answer>, url: String, token: Secret?
    ) throws(KiiInputError) -> HTTPRequest {
        var url = url
        for (position, item) in call.query.enumerated() {
            url += (position == 0 ? "?" : "&") + item.name.percentEncoded + "=" + item.value.percentEncoded
        }
        var request = HTTPRequest(method: call.method.rawValue, url: url, timeout: self.timeout)
        // Kii's reference requires only `Authorization`. Kii's SDKs also send these two fields.
        request.fields = [
            HTTPField("X-Kii-AppID", self.app.appID), HTTPField("X-Kii-AppKey", self.app.appKey.reveal()),
        ]
        switch call.authorization {
        case .none: break
        case .app:
            request.fields.append(HTTPField("Authorization", "Basic " + self.app.basicCredentials.reveal()))
        case .token:
            guard let token, token.reveal().isVisibleASCII else {
                throw KiiInputError(.token, rule: "an access token of visible ASCII characters; sign in to get one")
            }
            request.fields.append(HTTPField("Authorization", "Bearer " + token.reveal()))
        }
        switch call.body {
        case .none: break
        case .empty: request.body = []
        case .json(let value, let mediaType):
            request.fields.append(HTTPField("Content-Type", mediaType))
            request.body = value.serialized()
        case .bytes(let bytes, let mediaType):
            guard mediaType.isHeaderText else {
                throw KiiInputError(.mediaType, rule: "a media type such as image/png, in printable ASCII")
            }
            request.fields.append(HTTPField("Content-Type", mediaType))
            request.body = bytes
        }
        return request
    }
}
