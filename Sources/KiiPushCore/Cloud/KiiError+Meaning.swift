extension KiiError {
    /// Whether it is the token that was refused, so that another one may help: 401, or 403 with
    /// `WRONG_TOKEN`. Not when the answer names whom the token belongs to: then a right is missing.
    ///
    /// - Source: `authenticatedPrincipalID` in Kii's answers with `UNAUTHORIZED`
    var refusesToken: Bool {
        if self.errorCode == KiiErrorCode.wrongToken { return true }
        // These are about a password, or about whom no token helps.
        guard self.status == 401, self.errorCode != KiiErrorCode.wrongPassword, !self.saysDisabled else { return false }
        return (self.context["authenticatedPrincipalID"]?.string ?? "").isEmpty
    }

    /// Whether a refresh token was refused: used before, revoked or unknown, if the refusal is no mistake.
    ///
    /// - Source: 403 `WRONG_REFRESH_TOKEN`; RFC 6749 section 5.2, which answers 400
    var refusesRefreshToken: Bool {
        guard !self.saysDisabled else { return false }
        return self.refusesCredentials || [400, 401, 403].contains(self.status)
    }

    /// Whether this is the refusal to make what is there already. Kii's guide for buckets gives it the status 404, its
    /// reference and its live answers 409.
    func saysItExists(_ code: String) -> Bool { self.errorCode == code || self.status == 409 }

    /// Whether this is the answer "no" to the question whether something is there: a code that says so, or 404 without
    /// a body, as to HEAD. A 404 with another body comes from elsewhere, such as a wrong base URL.
    func saysItIsAbsent(_ codes: Set<String>) -> Bool {
        guard let errorCode = self.errorCode else { return self.status == 404 && self.bodyByteCount == 0 }
        return codes.contains(errorCode)
    }
}
