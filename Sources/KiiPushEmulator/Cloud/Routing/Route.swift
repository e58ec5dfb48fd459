import KiiPushCore

/// A class: copying structs would slow down the search, which compares a request with up to 200 routes.
final class Route: Sendable {
    /// The required credentials. The handler may check further rights.
    enum Need: Sendable {
        /// No credentials; the handler finds the caller in the body.
        case nobody
        /// The app's key or a token.
        case app
        /// The token of a user, a thing or the administrator.
        case principal
        /// The administrator's token, or Basic with client ID and secret.
        case administrator
    }

    /// A method of ``EmulatedCloud``.
    typealias Handler<Answer> = @Sendable (EmulatedCloud) -> (CloudCall) throws(KiiFailure) -> Answer

    let method: String
    /// The path without its root, such as `topics/{topic}` below `/api/apps/{app}`.
    let path: String
    let need: Need
    /// The allowed query items of a request to `/__kii`. Kii's own calls ignore unknown items.
    let query: [String]
    let handler: Handler<HTTPResponse>
    /// The segments of the path; `isName` for `{name}`, which matches any segment.
    private let pattern: [(word: String, isName: Bool)]

    init(
        _ method: String, _ path: String, need: Need = .principal, query: [String] = [],
        _ handler: @escaping Handler<HTTPResponse>
    ) {
        self.method = method
        self.path = path
        self.need = need
        self.query = query
        self.handler = handler
        self.pattern = path.split(separator: "/").map { segment in
            segment.hasPrefix("{") ? (String(segment.dropFirst().dropLast()), true) : (String(segment), false)
        }
    }

    /// A route whose answer is 204.
    convenience init(
        _ method: String, _ path: String, need: Need = .principal, _ change: @escaping Handler<Void>
    ) {
        self.init(method, path, need: need) { cloud in
            { call throws(KiiFailure) in
                try change(cloud)(call)
                return HTTPResponse(status: 204)
            }
        }
    }

    static func control(
        _ method: String, _ path: String, query: [String] = [], _ handler: @escaping Handler<HTTPResponse>
    ) -> Route {
        Route(method, path, need: .administrator, query: query, handler)
    }

    static func control(_ method: String, _ path: String, _ change: @escaping Handler<Void>) -> Route {
        Route(method, path, need: .administrator, change)
    }

    static func inEveryScope(_ routes: [Route]) -> [Route] {
        routes.flatMap { route in
            ["", "users/{user}/", "groups/{group}/", "things/{thing}/"].map {
                Route(route.method, $0 + route.path, need: route.need, query: route.query, route.handler)
            }
        }
    }

    func match(_ path: ArraySlice<String>) -> [String: String]? {
        guard path.count == self.pattern.count else { return nil }
        // The words are compared before any value is stored, since most routes do not match.
        for (segment, text) in zip(self.pattern, path) where !segment.isName && segment.word != text { return nil }
        var parameters: [String: String] = [:]
        for (segment, text) in zip(self.pattern, path) where segment.isName { parameters[segment.word] = text }
        return parameters
    }

    /// - Throws: ``KiiFailure`` 400 for an item that is not in ``query``.
    func checkQuery(_ target: RequestTarget) throws(KiiFailure) {
        guard let unknown = target.query.keys.sorted().first(where: { !self.query.contains($0) }) else { return }
        let known = self.query.isEmpty ? "there is none here" : "there is \(self.query.joined(separator: ", "))"
        throw .invalidInput("The query item \(unknown) is not known; \(known).")
    }
}
