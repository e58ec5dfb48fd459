/// An answer with an error status, usually a refusal by the cloud.
public struct KiiError: Error, Sendable, Hashable {
    package var operation: KiiOperation
    /// The HTTP status.
    public var status: Int
    /// Kii's code for the reason. `nil` if the answer has no code; such an answer is probably not from Kii.
    ///
    /// - Source: field `errorCode`; for OAuth errors `error` (RFC 6749 section 5.2)
    public var errorCode: String?
    /// Kii's explanation for people. Programs should compare ``errorCode`` instead.
    ///
    /// - Source: field `message`; for OAuth errors `error_description`
    public var message: String?
    /// Further fields of the answer, such as `topicID` and `objectScope`: a JSON object, which may be empty.
    public var context: JSONValue = [:]
    /// The wait that the cloud requests before the next attempt. At most 30 days.
    ///
    /// - Source: the longer of the header field `Retry-After` (seconds or a date) and the body's `retryAfter` (seconds)
    public var retryAfter: Duration?
    package var bodyByteCount = 0
    /// Whether a repetition may have a second effect: the cloud may have carried out the call despite the error.
    public var isInDoubt = false

    package var isTransient: Bool {
        self.saysLocked || [408, 425, 429].contains(self.status)
            || ((500..<600).contains(self.status) && self.status != 501)
    }

    /// False if a gateway or a network's sign-in page probably answered in the cloud's place.
    package var isOfCloud: Bool { self.errorCode != nil }

    /// Whether the cloud refused the token, or the name and password. Kii also answers 401 `UNAUTHORIZED` if the
    /// principal lacks a right. False for a disabled principal or app, and for a locked login name.
    package var refusesCredentials: Bool {
        guard !self.saysDisabled, !self.saysLocked else { return false }
        let codes: [String] = [
            KiiErrorCode.wrongToken, KiiErrorCode.wrongRefreshToken, KiiErrorCode.invalidGrant,
            KiiErrorCode.invalidClient,
        ]
        return self.errorCode.map { self.status == 401 || codes.contains($0) } ?? false
    }

    /// Whether too many wrong passwords have locked the login name.
    ///
    /// - Source: a live test in Kii's C SDK (ebisu), which compares this message
    package var saysLocked: Bool {
        self.errorCode == KiiErrorCode.invalidGrant && self.message == "The login name is locked"
    }

    package var saysDisabled: Bool {
        [KiiErrorCode.userDisabled, KiiErrorCode.thingDisabled, KiiErrorCode.appDisabled].contains(self.errorCode)
    }
}
