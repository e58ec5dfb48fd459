extension KiiError {
    /// Whether the cloud refused the token itself, so that another token may help: 401, or 403 with `WRONG_TOKEN`.
    /// False if the answer names the token's owner: then a right is missing.
    ///
    /// - Source: `authenticatedPrincipalID` in Kii's answers with `UNAUTHORIZED`
    var refusesToken: Bool {
        if self.errorCode == KiiErrorCode.wrongToken { return true }
        // These refusals concern a password, or a principal whom no token helps.
        guard self.status == 401, self.errorCode != KiiErrorCode.wrongPassword, !self.saysDisabled else { return false }
        return (self.context["authenticatedPrincipalID"]?.string ?? "").isEmpty
    }

    /// Whether the cloud refused a refresh token as used, revoked or unknown. The refusal may be a mistake.
    ///
    /// - Source: 403 `WRONG_REFRESH_TOKEN`; RFC 6749 section 5.2, which answers 400
    var refusesRefreshToken: Bool {
        guard !self.saysDisabled else { return false }
        return self.refusesCredentials || [400, 401, 403].contains(self.status)
    }

    /// Whether the cloud refused to create a resource because it exists. Kii's guide for buckets gives the status 404;
    /// its reference and live answers have 409.
    func saysItExists(_ code: String) -> Bool { self.errorCode == code || self.status == 409 }

    /// Whether the cloud says that a resource does not exist: a code in `codes`, or 404 without a body, as to HEAD. A
    /// 404 with another body comes from elsewhere, such as a wrong base URL.
    func saysItIsAbsent(_ codes: Set<String>) -> Bool {
        guard let errorCode = self.errorCode else { return self.status == 404 && self.bodyByteCount == 0 }
        return codes.contains(errorCode)
    }
}
