package struct KiiCall<Answer: Sendable>: Sendable {
    package let method: HTTPMethod
    package let path: KiiPath
    /// The statuses of success. Other statuses from 200 to 299 are errors: a network's sign-in page answers 200 to
    /// every request.
    package let statuses: Set<Int>
    package let read: @Sendable (KiiResponse) throws(KiiResponseError) -> Answer
    package var service = KiiService.api
    /// Whether ``path`` is relative to `/apps/{appID}`, not to the API's root.
    package var isOfApp = true
    package var authorization = KiiAuthorization.token
    package var query: [(name: String, value: String)] = []
    package var body = KiiBody.none
    /// Whether two requests have the effect of one, so that the client may repeat the call (RFC 9110 section 9.2.2).
    package var isIdempotent: Bool
    /// Secrets in the request. The client removes secrets of 4 bytes or more from errors.
    package var secrets: [Secret] = []
    /// Converts a refusal that is an expected answer, such as "not subscribed", into that answer; otherwise returns
    /// `nil`.
    package var answerFromRefusal: @Sendable (KiiError) -> Answer? = { _ in nil }
    /// Like ``answerFromRefusal``, for a repeated request, if the cloud may have carried out an earlier request.
    package var answerFromRepetition: @Sendable (KiiError) -> Answer? = { _ in nil }

    package init(
        _ method: HTTPMethod, _ path: KiiPath, statuses: Set<Int>,
        read: @escaping @Sendable (KiiResponse) throws(KiiResponseError) -> Answer
    ) {
        (self.method, self.path, self.statuses, self.read) = (method, path, statuses, read)
        self.isIdempotent = method != .post
    }

    static func reading(
        _ path: KiiPath, _ read: @escaping @Sendable (KiiFields) throws(KiiResponseError) -> Answer
    ) -> Self {
        Self(.get, path, statuses: [200]) { response throws(KiiResponseError) in try read(response.fields()) }
    }

    func encodedPath(in app: KiiApp) throws(KiiInputError) -> String {
        try (self.isOfApp ? app.path.appending(self.path) : self.path).encoded()
    }

    package func url(in app: KiiApp) throws(KiiInputError) -> String {
        try app.checkedBaseURL(of: self.service) + self.encodedPath(in: app)
    }

    package func with(_ change: (inout Self) -> Void) -> Self {
        var call = self
        change(&call)
        return call
    }
}

extension KiiCall where Answer == Void {
    /// If the cloud may have carried out a DELETE, its repetition succeeds if the resource does not exist (404). A 404
    /// for a missing app, or without an error code of Kii's, stays an error.
    package init(_ method: HTTPMethod, _ path: KiiPath, statuses: Set<Int>) {
        self.init(method, path, statuses: statuses) { _ in }
        guard method == .delete else { return }
        self.answerFromRepetition = { error in
            guard error.status == 404, let code = error.errorCode, code != KiiErrorCode.appNotFound else { return nil }
            return ()
        }
    }
}

extension KiiCall where Answer == Bool {
    /// Makes a PUT that creates a resource. Unless `acceptsExisting`, the client does not repeat a PUT that the cloud
    /// may have carried out: the repetition would find the resource of the first request.
    static func making(
        _ path: KiiPath, statuses: Set<Int>, existing code: String, acceptsExisting: Bool
    ) -> Self {
        Self(.put, path, statuses: statuses) { _ in true }.with { call in
            call.body = .empty
            call.isIdempotent = acceptsExisting
            call.answerFromRefusal = { acceptsExisting && $0.isConflict(code) ? false : nil }
        }
    }

    /// Makes a GET that checks whether a resource exists. A code in `absent`, or a 404 without a body, means no.
    static func asking(_ path: KiiPath, statuses: Set<Int>, absent: Set<String>) -> Self {
        Self(.get, path, statuses: statuses) { _ in true }.with { call in
            call.answerFromRefusal = { $0.isNotFound(absent) ? false : nil }
        }
    }
}

package enum KiiService: Sendable {
    case api
    case thingIF
}

package enum KiiAuthorization: Sendable {
    case none
    case app
    case token
}

package enum KiiBody: Sendable {
    case none
    /// Kii requires an empty body, without `Content-Type`, to PUT a topic or a subscription.
    case empty
    case json(JSONValue, mediaType: String)
    case bytes([UInt8], mediaType: String)

    static func kii(_ name: String, _ members: JSONMembers) -> KiiBody {
        .json(.object(members), mediaType: "application/vnd.kii.\(name)+json")
    }

    static func json(_ value: JSONValue) -> KiiBody { .json(value, mediaType: "application/json") }
}
