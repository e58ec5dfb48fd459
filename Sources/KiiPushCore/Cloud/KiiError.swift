/// A refusal: Kii answered, and the answer is no.
public struct KiiError: Error, Sendable, Hashable {
    /// The call that was refused.
    package var operation: KiiOperation
    /// The HTTP status.
    public var status: Int
    /// Kii's name for the reason. `nil` when the answer has none, and then it is probably not Kii's.
    ///
    /// - Source: field `errorCode`; for OAuth errors `error` (RFC 6749 section 5.2).
    public var errorCode: String?
    /// Kii's explanation for people. Not for comparison.
    ///
    /// - Source: field `message`, for OAuth errors `error_description`.
    public var message: String?
    /// The further fields of the answer, such as `topicID` and `objectScope`: an object, empty when there are none.
    public var context: JSONValue
    /// How long the cloud asks to wait before the call is made again. At most 30 days.
    ///
    /// - Source: the longer of the field `Retry-After` (seconds or a date) and the body's `retryAfter` (seconds).
    public var retryAfter: Duration?
    /// How long the answer's body was, in bytes. 0 tells an answer without one from a page that is not Kii's.
    package var bodyByteCount: Int
    /// Whether the call may have been carried out all the same, and would be carried out once more by making it again:
    /// 408 or a 5xx without a wait, to a call that may not be made twice.
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

    /// Whether the same call may succeed later without anybody changing anything: 408, 425, 429 and 5xx, except 501, and a
    /// login that is locked. ``isInDoubt`` tells whether it may do something twice then.
    package var isTransient: Bool {
        self.saysLocked || [408, 425, 429].contains(self.status)
            || ((500..<600).contains(self.status) && self.status != 501)
    }

    /// Whether the answer is one of the cloud's own. Without a code of Kii's or of OAuth's something on the way has probably
    /// answered, such as a gateway or a network's sign-in page.
    package var isOfCloud: Bool { self.errorCode != nil }

    /// Whether the token, or the name and password, were refused, so that only signing in anew can help. Kii answers
    /// 401 `UNAUTHORIZED` both to a token that is not one and to a principal that lacks a right, so this can also mean
    /// the latter. Not when the principal is only disabled: once it is enabled again, its credentials are good. Nor when the
    /// answer is not the cloud's.
    package var refusesCredentials: Bool {
        guard !self.saysDisabled, !self.saysLocked else { return false }
        let codes: [String] = [
            KiiErrorCode.wrongToken, KiiErrorCode.wrongRefreshToken, KiiErrorCode.invalidGrant,
            KiiErrorCode.invalidClient,
        ]
        return self.errorCode.map { self.status == 401 || codes.contains($0) } ?? false
    }

    /// Whether nobody can sign in under the name for a while, as too many have tried with a wrong password.
    ///
    /// - Source: a live test of ebisu, which compares the sentence
    package var saysLocked: Bool {
        self.errorCode == KiiErrorCode.invalidGrant && self.message == "The login name is locked"
    }

    /// Whether the user, the thing or the app has been disabled. Nothing is lost by that but time; to register anew
    /// would lose something.
    package var saysDisabled: Bool {
        [KiiErrorCode.userDisabled, KiiErrorCode.thingDisabled, KiiErrorCode.appDisabled].contains(self.errorCode)
    }
}
