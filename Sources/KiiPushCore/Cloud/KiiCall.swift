/// A call of Kii's REST API: the request, and how to read the answer. ``KiiClient`` treats every call alike.
package struct KiiCall<Answer: Sendable>: Sendable {
    package let method: HTTPMethod
    /// The path, below `/apps/{appID}` if ``isOfApp``.
    package let path: KiiPath
    /// The statuses of a successful answer. Any other status is an error, even within 200 to 299: a network's sign-in
    /// page answers 200 to everything.
    package let statuses: Set<Int>
    package let read: @Sendable (KiiResponse) throws(KiiResponseError) -> Answer
    package var service = KiiService.api
    /// Whether ``path`` is below the app's path; a cloud's own controls are not.
    package var isOfApp = true
    package var authorization = KiiAuthorization.token
    /// Query parameters in order, not percent-encoded.
    package var query: [(name: String, value: String)] = []
    package var body = KiiBody.none
    /// Whether the client may repeat the call after a lost answer, because two requests have the effect of one.
    ///
    /// - Source: RFC 9110 section 9.2.2
    package var isIdempotent: Bool
    /// Secrets of the call that an error's text must not contain, besides the token and the app's key.
    package var secrets: [Secret] = []
    /// Converts a refusal that is really an answer, such as "not subscribed", into that answer.
    package var answerFromRefusal: @Sendable (KiiError) -> Answer? = { _ in nil }
    /// Converts the refusal of a repetition into the lost answer. Called only when the cloud may have carried out an
    /// earlier request of the same call.
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
    /// A call whose answer has nothing to read. A repeated DELETE succeeds with 404: the first request, or somebody
    /// else, removed the resource. A missing app, and a 404 that is not Kii's, stay errors.
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
    /// A PUT of a resource without a body. The answer is whether this call created it.
    ///
    /// - Parameters:
    ///   - code: Kii's error code for an existing resource.
    ///   - acceptsExisting: whether `code` becomes the answer `false`. Otherwise it is an error, and the client does
    ///     not repeat the call: a repetition would find the resource of the first request.
    static func making(
        _ path: KiiPath, statuses: Set<Int>, existing code: String, acceptsExisting: Bool
    ) -> Self {
        Self(.put, path, statuses: statuses) { _ in true }.with { call in
            call.body = .empty
            call.isIdempotent = acceptsExisting
            call.answerFromRefusal = { acceptsExisting && $0.saysItExists(code) ? false : nil }
        }
    }

    /// A GET that checks whether a resource exists. A code in `absent`, or 404 without a body, is the answer `false`.
    static func asking(_ path: KiiPath, statuses: Set<Int>, absent: Set<String>) -> Self {
        Self(.get, path, statuses: statuses) { _ in true }.with { call in
            call.answerFromRefusal = { $0.saysItIsAbsent(absent) ? false : nil }
        }
    }
}

package enum KiiService: Sendable {
    /// Kii's REST API, below ``KiiApp/baseURL``.
    case api
    /// thing-if, which onboards things, below ``KiiApp/thingIFBaseURL``.
    case thingIF
}

package enum KiiAuthorization: Sendable {
    /// No `Authorization` field; the body contains the credentials.
    case none
    /// `Basic` with the app's ID and key, which anybody with the app has.
    case app
    /// `Bearer` with the access token of a user, a thing or an administrator.
    case token
}

package enum KiiBody: Sendable {
    case none
    /// A body of length 0 and no `Content-Type`; Kii requires this to PUT a topic or a subscription.
    case empty
    /// JSON under a media type, often `application/vnd.kii.…+json`.
    case json(JSONValue, mediaType: String)
    case bytes([UInt8], mediaType: String)

    /// An object under a media type of Kii's, such as `RegistrationRequest`.
    static func kii(_ name: String, _ members: JSONMembers) -> KiiBody {
        .json(.object(members), mediaType: "application/vnd.kii.\(name)+json")
    }

    static func json(_ value: JSONValue) -> KiiBody { .json(value, mediaType: "application/json") }
}
