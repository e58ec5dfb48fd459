extension KiiError {
    /// Reads a refusal and removes `secrets` from its texts: a server may echo a secret, and programs log errors.
    package init(_ response: KiiResponse, withholding secrets: [Secret]) {
        let http = response.http
        self.init(operation: response.operation, status: http.status, bodyByteCount: http.body.count)
        var bodySeconds: Int64?
        // The body may be HTML or empty. If the body is not a JSON object, only the status and the header fields count.
        if let body = try? JSONValue(parsing: http.body), let members = body.members {
            let withheld = WithheldTexts(secrets)
            // Any web server may use the key `error`. Under that key, only OAuth's codes count as the cloud's.
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

/// OAuth's error codes (RFC 6749 section 5.2, RFC 6750 section 3.1).
private enum OAuth {
    static let errors: Set<String> = [
        "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type",
        "invalid_scope", "invalid_token", "insufficient_scope",
    ]
}

extension String {
    /// Whether the text has the form of an error code. A text of any other form may be an echo of the request.
    fileprivate var isErrorCode: Bool {
        (1...64).contains(self.utf8.count) && self.utf8.allSatisfy { $0.isLetterOrDigit(or: "_") }
    }
}
