import KiiPushCore

/// One thing that can be asked of the cloud.
struct Route: Sendable {
    /// Who may ask, before the handler looks closer.
    enum Need: Sendable {
        /// Anybody at all; the handler looks at the body for who it is.
        case nobody
        /// The app, by its key or a token.
        case app
        /// A user, thing or administrator, by a token.
        case principal
        /// Whoever runs the emulator: the administrator's token, or Basic with client ID and secret.
        case administrator
    }

    typealias Handler = @Sendable (inout EmulatedCloud, CloudCall) throws(KiiFailure) -> HTTPResponse

    let method: String
    let pattern: [Segment]
    let need: Need
    let handler: Handler

    /// One segment of a pattern: a word, or `{name}` for anything but nothing.
    enum Segment: Sendable {
        case word(String)
        case parameter(String)
    }

    init(_ method: String, _ pattern: String, need: Need = .principal, _ handler: @escaping Handler) {
        self.method = method
        self.need = need
        self.handler = handler
        self.pattern = pattern.split(separator: "/").map { segment in
            segment.hasPrefix("{") ? .parameter(String(segment.dropFirst().dropLast())) : .word(String(segment))
        }
    }

    /// The values of the parameters if `path` has the form of the pattern.
    func match(_ path: ArraySlice<String>) -> [String: String]? {
        guard path.count == self.pattern.count else { return nil }
        // Looked at before anything is kept, since most routes are another's.
        for (segment, text) in zip(self.pattern, path) {
            switch segment {
            case .word(let word): guard word == text else { return nil }
            case .parameter: guard !text.isEmpty else { return nil }
            }
        }
        var parameters: [String: String] = [:]
        for case (.parameter(let name), let text) in zip(self.pattern, path) { parameters[name] = text }
        return parameters
    }
}
