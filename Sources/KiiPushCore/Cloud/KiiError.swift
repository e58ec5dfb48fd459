/// A refusal by the cloud, or an answer with an error status.
public struct KiiError: Error, Sendable, Hashable {
    package var operation: KiiOperation
    /// The HTTP status.
    public var status: Int
    /// Kii's name for the reason. `nil` when the answer has none; then it is probably not from Kii.
    ///
    /// - Source: field `errorCode`; for OAuth errors `error` (RFC 6749 section 5.2).
    public var errorCode: String?
    /// Kii's explanation for people. Not for comparison.
    ///
    /// - Source: field `message`, for OAuth errors `error_description`.
    public var message: String?
    /// Further fields of the answer, such as `topicID` and `objectScope`: an object, empty when there are none.
    public var context: JSONValue
    /// The wait that the cloud requests before the next attempt. At most 30 days.
    ///
    /// - Source: the longer of the field `Retry-After` (seconds or a date) and the body's `retryAfter` (seconds).
    public var retryAfter: Duration?
    /// The length of the answer's body in bytes. 0 distinguishes an answer without a body from a page that is not
    /// Kii's.
    package var bodyByteCount: Int
    /// Whether the cloud may have carried out the call despite the error, so that a repetition would carry it out
    /// twice. The case for 408 or 5xx (except 501 and 511) without a wait, if the call is not safe to repeat.
    public var isInDoubt: Bool

    package init(
        operation: KiiOperation, status: Int, errorCode: String? = nil, message: String? = nil,
        context: JSONValue = [:], retryAfter: Duration? = nil, bodyByteCount: Int = 0, isInDoubt: Bool = false
    ) {
        self.operation = operation
        self.status = status
        self.errorCode = errorCode
        self.message = message
        self.context = context
        self.retryAfter = retryAfter
        self.bodyByteCount = bodyByteCount
        self.isInDoubt = isInDoubt
    }

    /// Whether the same call may succeed later without any change: 408, 425, 429 and 5xx except 501, and a locked
    /// login. ``isInDoubt`` says whether a repetition may have a second effect.
    package var isTransient: Bool {
        self.saysLocked || [408, 425, 429].contains(self.status)
            || ((500..<600).contains(self.status) && self.status != 501)
    }

    /// Whether the answer comes from the cloud. Without a code of Kii's or OAuth's, an intermediary has probably
    /// answered, such as a gateway or a network's sign-in page.
    package var isOfCloud: Bool { self.errorCode != nil }

    /// Whether the cloud refused the token, or the name and password, so that only signing in anew can help. Kii
    /// answers 401 `UNAUTHORIZED` both to an invalid token and to a principal that lacks a right, so this may also mean
    /// a missing right. False for a disabled principal, whose credentials are valid once it is enabled again. False if
    /// the answer is not the cloud's.
    package var refusesCredentials: Bool {
        guard !self.saysDisabled, !self.saysLocked else { return false }
        let codes: [String] = [
            KiiErrorCode.wrongToken, KiiErrorCode.wrongRefreshToken, KiiErrorCode.invalidGrant,
            KiiErrorCode.invalidClient,
        ]
        return self.errorCode.map { self.status == 401 || codes.contains($0) } ?? false
    }

    /// Whether nobody can sign in under the name for a while, after too many attempts with a wrong password.
    ///
    /// - Source: a live test of ebisu, which compares the sentence
    package var saysLocked: Bool {
        self.errorCode == KiiErrorCode.invalidGrant && self.message == "The login name is locked"
    }

    /// Whether the user, the thing or the app is disabled. Waiting costs only time, but registering anew would lose the
    /// existing registration.
    package var saysDisabled: Bool {
        [KiiErrorCode.userDisabled, KiiErrorCode.thingDisabled, KiiErrorCode.appDisabled].contains(self.errorCode)
    }
}
