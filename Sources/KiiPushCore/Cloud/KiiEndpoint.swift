/// One call of Kii's REST API, as a value: what to ask for, and how to read the answer.
///
/// ``KiiClient`` executes any endpoint and knows none of them. A call that this library does not have is made by
/// conforming a type of one's own.
public protocol KiiEndpoint: Sendable {
    /// What a successful answer says.
    associatedtype Response: Sendable

    /// The HTTP method.
    var method: HTTPMethod { get }
    /// Which of the cloud's services has the resource. Default: the REST API.
    var service: KiiService { get }
    /// Whether asking twice has the effect of asking once, so that the call may be repeated when its answer was lost.
    /// Default: true for every method but POST (RFC 9110 section 9.2.2).
    var isIdempotent: Bool { get }
    /// How the call proves who makes it. Default: a bearer token.
    var authorization: KiiAuthorization { get }
    /// Query parameters, in order, not yet percent-encoded. Default: none.
    var query: [KiiQueryItem] { get }
    /// The body. Default: none.
    var body: KiiBody { get }
    /// The statuses of a successful answer. Any other is an error, also within 200 to 299: a network's sign-in page
    /// answers 200 to everything.
    var successStatuses: Set<Int> { get }
    /// What the call carries that must not come back in an error's text, besides the token and the app's key.
    /// Default: none.
    var secrets: [Secret] { get }

    /// Where the resource lives.
    func path(in app: KiiApp) -> KiiPath
    /// Refuses values that Kii would refuse. Called before anything is sent. Default: accepts.
    func validate() throws(KiiInputError)
    /// Reads an answer whose status is one of ``successStatuses``.
    func decode(_ response: KiiResponse) throws(KiiResponseError) -> Response
    /// Turns a refusal that is an answer in itself, such as "not subscribed", into that answer. Default: `nil`.
    func answer(from error: KiiError) -> Response?
    /// Turns the refusal of a repetition into the answer that was lost. Asked only when an earlier request of the same
    /// call may have been carried out. Default: `nil`; for a DELETE without a response, 404 is the answer, since what
    /// was to be removed is not there.
    func answer(toRepetition error: KiiError) -> Response?
}

extension KiiEndpoint {
    /// The REST API.
    public var service: KiiService { .api }
    /// True for every method but POST.
    public var isIdempotent: Bool { self.method != .post }
    /// A bearer token.
    public var authorization: KiiAuthorization { .token }
    /// No parameters.
    public var query: [KiiQueryItem] { [] }
    /// No body.
    public var body: KiiBody { .none }
    /// No secrets.
    public var secrets: [Secret] { [] }
    /// Accepts.
    public func validate() throws(KiiInputError) {}
    /// None.
    public func answer(from error: KiiError) -> Response? { nil }
    /// None.
    public func answer(toRepetition error: KiiError) -> Response? { nil }
}

extension KiiEndpoint where Response == Void {
    /// Reads nothing: an answer without content has nothing to read.
    public func decode(_ response: KiiResponse) throws(KiiResponseError) {}
    /// To a DELETE, that it is not there: it was removed by the request whose answer was lost, or by somebody else.
    /// A missing app, and a 404 that is not Kii's, stay errors.
    public func answer(toRepetition error: KiiError) -> Void? {
        guard self.method == .delete, error.status == 404 else { return nil }
        guard let errorCode = error.errorCode, errorCode != .appNotFound else { return nil }
        return ()
    }
}

/// One of the cloud's services; each has a root URL of its own.
public enum KiiService: Sendable, Hashable {
    /// Kii's REST API, below ``KiiApp/baseURL``.
    case api
    /// thing-if, which onboards things, below ``KiiApp/thingIFBaseURL``.
    case thingIF
}

/// How a call proves who makes it.
public enum KiiAuthorization: Sendable, Hashable {
    /// No `Authorization` field; what proves the caller is in the body.
    case none
    /// `Basic` with the app's ID and key: anybody who has the app.
    case app
    /// `Bearer` with the access token of a user, a thing or an administrator.
    case token
}

/// One query parameter.
public struct KiiQueryItem: Sendable, Hashable {
    /// The name.
    public var name: String
    /// The value, not yet percent-encoded.
    public var value: String

    /// Makes a parameter.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// What a call sends.
public enum KiiBody: Sendable, Hashable {
    /// No body, as in GET and DELETE.
    case none
    /// A body of length 0 and no `Content-Type`, which is how Kii wants a topic or a subscription to be PUT.
    case empty
    /// JSON under a media type, often one of `application/vnd.kii.…+json`.
    case json(JSONValue, mediaType: String)
    /// Bytes of any media type, such as an object's body.
    case bytes([UInt8], mediaType: String)
}
