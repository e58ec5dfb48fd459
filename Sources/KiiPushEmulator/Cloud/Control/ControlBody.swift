import KiiPushCore

/// The body of a request to `/__kii`. People write such bodies by hand, so an unknown member is an error that names
/// the member.
typealias ControlBody = JSONReader<KiiFailure>

extension KiiFailure: JSONReaderError {
    init(_ error: JSONMemberError, in document: Void) {
        if case .notJSON(let error) = error.rule {
            self.init(400, "INVALID_JSON", "The body is not JSON: \(error)")
        } else {
            self = .invalidInput("\(error).")
        }
    }
}

extension ControlBody {
    /// An empty body counts as `{}`. The media type does not matter, so that `curl -d` works.
    ///
    /// - Throws: ``KiiFailure`` 400 for a body that is no JSON object, or for a member that is not in `members`.
    init(_ call: CloudCall, members: [String]? = nil) throws(KiiFailure) {
        self.init(call.request.body.isEmpty ? [:] : try call.object(), in: ())
        try self.object(members)
    }

    func count() throws(KiiFailure) -> Int { try self.integer(in: 1...1_000_000) }

    /// In seconds, to the millisecond. The default upper limit is 68 years.
    func duration(
        from shortest: Duration = .milliseconds(1), to longest: Duration = .seconds(2_147_483_647)
    ) throws(KiiFailure) -> Duration {
        try self.read("a number of seconds: at least \(shortest), at most \(longest)") { value in
            // The range is checked before the conversion, since a `Double` may exceed an integer's range.
            guard let seconds = value.double, seconds >= 0, seconds <= Double(longest.components.seconds) else {
                return nil
            }
            let duration = Duration.milliseconds(Int64((seconds * 1000).rounded()))
            return shortest <= duration ? duration : nil
        }
    }
}
