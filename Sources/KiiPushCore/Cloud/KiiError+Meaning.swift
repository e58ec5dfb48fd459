extension KiiError {
    /// Whether the cloud refused the token itself: `WRONG_TOKEN`, or 401 except for a wrong password or a disabled
    /// principal. If the answer names the token's owner, the token is valid, and the owner lacks a right.
    ///
    /// - Source: `authenticatedPrincipalID` in Kii's answers with `UNAUTHORIZED`
    var refusesToken: Bool {
        if self.errorCode == KiiErrorCode.wrongToken { return true }
        // Another token does not help after a wrong password, or for a disabled principal.
        guard self.status == 401, self.errorCode != KiiErrorCode.wrongPassword, !self.saysDisabled else { return false }
        return (self.context["authenticatedPrincipalID"]?.string ?? "").isEmpty
    }

    /// Kii answers 403 `WRONG_REFRESH_TOKEN` to a refused refresh token; RFC 6749 section 5.2 has the status 400.
    var refusesRefreshToken: Bool {
        guard !self.saysDisabled else { return false }
        return self.refusesCredentials || [400, 401, 403].contains(self.status)
    }

    /// Kii's reference and live answers have the status 409 for an existing resource; Kii's guide for buckets has 404.
    func isConflict(_ code: String) -> Bool { self.errorCode == code || self.status == 409 }

    /// A 404 without a body means yes: it may answer a HEAD. A 404 with a body, but without a code of Kii's, means no:
    /// it may come from a proxy.
    func isNotFound(_ codes: Set<String>) -> Bool {
        guard let errorCode = self.errorCode else { return self.status == 404 && self.bodyByteCount == 0 }
        return codes.contains(errorCode)
    }
}
