/// One call of Kii's REST API: what is sent, and how the answer is read. ``KiiClient`` makes every call in the same way
/// and knows none of them.
package struct KiiCall<Answer: Sendable>: Sendable {
    package let method: HTTPMethod
    /// Below `/apps/{appID}`, if ``isOfApp``.
    package let path: KiiPath
    /// The statuses of a successful answer. Any other is an error, also within 200 to 299: a network's sign-in page
    /// answers 200 to everything.
    package let statuses: Set<Int>
    /// Reads an answer with one of ``statuses``.
    package let read: @Sendable (KiiResponse) throws(KiiResponseError) -> Answer
    package var service = KiiService.api
    /// Whether ``path`` is below the app's; a cloud's own controls are not.
    package var isOfApp = true
    package var authorization = KiiAuthorization.token
    /// Query parameters, in order, not yet percent-encoded.
    package var query: [(name: String, value: String)] = []
    package var body = KiiBody.none
    /// Whether the call may be repeated when its answer was lost: asking twice has the effect of asking once.
    ///
    /// - Source: RFC 9110 section 9.2.2
    package var isIdempotent: Bool
    /// What the call carries that must not come back in an error's text, besides the token and the app's key.
    package var secrets: [Secret] = []
    /// Turns a refusal that is an answer in itself, such as "not subscribed", into that answer.
    package var answerFromRefusal: @Sendable (KiiError) -> Answer? = { _ in nil }
    /// Turns the refusal of a repetition into the answer that was lost. Asked only when an earlier request of the same
    /// call may have been carried out.
    package var answerFromRepetition: @Sendable (KiiError) -> Answer? = { _ in nil }

    package init(
        _ method: HTTPMethod, _ path: KiiPath, statuses: Set<Int>,
        read: @escaping @Sendable (KiiResponse) throws(KiiResponseError) -> Answer
    ) {
        (self.method, self.path, self.statuses, self.read) = (method, path, statuses, read)
        self.isIdempotent = method != .post
    }

    /// GETs an object.
    static func reading(
        _ path: KiiPath, _ read: @escaping @Sendable (KiiFields) throws(KiiResponseError) -> Answer
    ) -> Self {
        Self(.get, path, statuses: [200]) { response throws(KiiResponseError) in try read(response.fields()) }
    }

    func encodedPath(in app: KiiApp) throws(KiiInputError) -> String {
        try (self.isOfApp ? app.path.appending(self.path) : self.path).encoded()
    }

    /// Where it goes, without the query.
    package func url(in app: KiiApp) throws(KiiInputError) -> String {
        try app.checkedBaseURL(of: self.service) + self.encodedPath(in: app)
    }

    /// The same call with something else in it.
    package func with(_ change: (inout Self) -> Void) -> Self {
        var call = self
        change(&call)
        return call
    }
}

extension KiiCall where Answer == Void {
    /// A call whose answer has nothing to read. A repeated DELETE succeeds with 404: the request whose answer was lost,
    /// or somebody else, has removed the resource. A missing app, and a 404 that is not Kii's, stay errors.
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
    /// PUTs something that has no body. Answers whether this call made it.
    ///
    /// - Parameters:
    ///   - code: what Kii says when it is there already.
    ///   - acceptsExisting: whether `code` becomes the answer `false`. Otherwise it is an error, and the call is not
    ///     repeated: a repetition would find what the first request made.
    static func making(
        _ path: KiiPath, statuses: Set<Int>, existing code: String, acceptsExisting: Bool
    ) -> Self {
        Self(.put, path, statuses: statuses) { _ in true }.with { call in
            call.body = .empty
            call.isIdempotent = acceptsExisting
            call.answerFromRefusal = { acceptsExisting && $0.saysItExists(code) ? false : nil }
        }
    }

    /// GETs a resource to see whether it exists. A code in `absent`, or 404 without a body, is the answer `false`.
    static func asking(_ path: KiiPath, statuses: Set<Int>, absent: Set<String>) -> Self {
        Self(.get, path, statuses: statuses) { _ in true }.with { call in
            call.answerFromRefusal = { $0.saysItIsAbsent(absent) ? false : nil }
        }
    }
}

/// One of the cloud's services; each has a root URL of its own.
package enum KiiService: Sendable {
    /// Kii's REST API, below ``KiiApp/baseURL``.
    case api
    /// thing-if, which onboards things, below ``KiiApp/thingIFBaseURL``.
    case thingIF
}

/// How a call proves who makes it.
package enum KiiAuthorization: Sendable {
    /// No `Authorization` field; what proves the caller is in the body.
    case none
    /// `Basic` with the app's ID and key: anybody who has the app.
    case app
    /// `Bearer` with the access token of a user, a thing or an administrator.
    case token
}

/// What a call sends.
package enum KiiBody: Sendable {
    /// No body, as in GET and DELETE.
    case none
    /// A body of length 0 and no `Content-Type`, which is how Kii wants a topic or a subscription to be PUT.
    case empty
    /// JSON under a media type, often one of `application/vnd.kii.…+json`.
    case json(JSONValue, mediaType: String)
    /// Bytes of any media type, such as an object's body.
    case bytes([UInt8], mediaType: String)

    /// An object under one of Kii's own media types, such as `RegistrationRequest`.
    static func kii(_ name: String, _ members: JSONMembers) -> KiiBody {
        .json(.object(members), mediaType: "application/vnd.kii.\(name)+json")
    }

    /// The app's own JSON.
    static func json(_ value: JSONValue) -> KiiBody { .json(value, mediaType: "application/json") }
}
