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
    /// The path below its root, as `topics/{topic}`.
    let path: String
    let need: Need
    /// The query items that a control has. Kii's own calls take others as well, and do not look at them.
    let query: [String]
    let handler: Handler
    private let pattern: [Segment]

    /// One segment of a path: a word, or `{name}` for anything but nothing.
    private enum Segment: Sendable {
        case word(String)
        case parameter(String)
    }

    init(
        _ method: String, _ path: String, need: Need = .principal, query: [String] = [], _ handler: @escaping Handler
    ) {
        self.method = method
        self.path = path
        self.need = need
        self.query = query
        self.handler = handler
        self.pattern = path.split(separator: "/").map { segment in
            segment.hasPrefix("{") ? .parameter(String(segment.dropFirst().dropLast())) : .word(String(segment))
        }
    }

    /// A route below `/__kii`, for the administrator alone.
    static func control(_ method: String, _ path: String, query: [String] = [], _ handler: @escaping Handler) -> Route {
        Route(method, path, need: .administrator, query: query, handler)
    }

    /// The same routes in the app's scope and below a user, group and thing.
    static func inEveryScope(_ routes: [Route]) -> [Route] {
        routes.flatMap { route in
            ["", "users/{user}/", "groups/{group}/", "things/{thing}/"].map {
                Route(route.method, $0 + route.path, need: route.need, query: route.query, route.handler)
            }
        }
    }

    /// The values of the parameters if `path` has the form of ``path``.
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

    /// - Throws: ``KiiFailure`` 400 when there is an item that is none of ``query``.
    func checkQuery(_ target: RequestTarget) throws(KiiFailure) {
        guard let unknown = target.query.keys.sorted().first(where: { !self.query.contains($0) }) else { return }
        let known = self.query.isEmpty ? "there is none here" : "there is \(self.query.joined(separator: ", "))"
        throw .invalidInput("The query item \(unknown) is not known; \(known).")
    }
}
