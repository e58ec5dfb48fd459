extension KiiError {
    /// Whether this is the refusal to make what is there already. Kii's guide for buckets gives it the status 404, its
    /// reference and its live answers 409.
    func saysItExists(_ code: KiiErrorCode) -> Bool {
        self.errorCode == code || self.status == 409
    }

    /// Whether this is the answer "no" to the question whether something is there: a code that says so, or 404 without
    /// a body, as to HEAD. A 404 with another body comes from elsewhere, such as a wrong base URL.
    func saysItIsAbsent(_ codes: Set<KiiErrorCode>) -> Bool {
        guard let errorCode = self.errorCode else { return self.status == 404 && self.bodyByteCount == 0 }
        return codes.contains(errorCode)
    }
}
