extension KiiError {
    /// Reads a refusal, whatever the body: Kii's JSON, somebody else's, HTML or nothing.
    ///
    /// - Parameters:
    ///   - response: The refusal.
    ///   - secrets: What the request carried; a server that echoes it back must not get it into a log.
    package init(_ response: KiiResponse, withholding secrets: [Secret]) {
        let http = response.http
        self.init(operation: response.operation, status: http.status, bodyByteCount: http.body.count)
        var bodySeconds: Int64?
        // An error's body has no fixed form; one that is not a JSON object says nothing beyond the status.
        if let body = try? JSONValue(parsing: http.body), let members = body.members {
            let withheld = WithheldTexts(secrets)
            // Anybody's web server says "error": only OAuth's words are the cloud's there.
            let code =
                body["errorCode"]?.string ?? body["error"]?.string.flatMap { OAuth.errors.contains($0) ? $0 : nil }
            self.errorCode = code.flatMap { $0.isErrorCode && !withheld.isHeld(in: $0) ? $0 : nil }
            self.message = (body["message"]?.string ?? body["error_description"]?.string).map(withheld.cleaning)
            self.context = .object(members.filter { !KiiError.namedFields.contains($0.key) }.map(withheld.cleaning))
            bodySeconds = body["retryAfter"].flatMap { $0.int64 ?? $0.string.flatMap { Int64($0) } }
        }
        self.retryAfter = RetryAfter.duration(of: http, bodySeconds: bodySeconds, receivedAt: response.receivedAt)
    }

    private static let namedFields: Set<String> = ["errorCode", "error", "message", "error_description", "retryAfter"]
}

/// - Source: RFC 6749, section 5.2; RFC 6750, section 3.1
private enum OAuth {
    static let errors: Set<String> = [
        "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type",
        "invalid_scope", "invalid_token", "insufficient_scope",
    ]
}

extension String {
    /// Whether it can be a code, so that no echoed value is mistaken for one: 1 to 64 of `A-Z a-z 0-9 _`.
    fileprivate var isErrorCode: Bool {
        (1...64).contains(self.utf8.count) && self.utf8.allSatisfy { $0.isLetterOrDigit(or: "_") }
    }
}
