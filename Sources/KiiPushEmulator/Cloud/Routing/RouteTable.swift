import KiiPushCore

/// All that can be asked, and how a request finds it.
package enum RouteTable {
    /// Below `/api`.
    private static let global: [Route] = [Route.token]

    /// Below `/api/apps/{appID}`.
    private static let ofApp: [Route] = Route.accounts + Route.installations + Route.topics + Route.buckets

    /// Below `/thing-if/apps/{appID}`.
    private static let ofThingIF: [Route] = Route.onboarding

    /// Below `/__kii`, which Kii's cloud does not have: what the emulator holds, and what it is told to do.
    private static let ofEmulator: [Route] = Route.inspection + Route.controls

    /// The routes with what precedes their patterns.
    static let roots: [(path: String, routes: [Route])] = [
        ("/api", RouteTable.global), ("/api/apps/{app}", RouteTable.ofApp),
        ("/thing-if/apps/{app}", RouteTable.ofThingIF), ("/__kii", RouteTable.ofEmulator),
    ]

    /// Every method and path that can be asked for, as `PUT /api/apps/{app}/topics/{topic}`, for comparing with a
    /// contract. A method that a path has for GET's sake, HEAD, is not listed.
    package static let listing: [String] = RouteTable.roots.flatMap { root, routes in
        routes.map { "\($0.method) \(root)/\($0.path)" }
    }

    /// The route of a request and what its path holds.
    ///
    /// - Throws: ``KiiFailure`` 404 for a path that leads nowhere or another app, 405 for a method that it does not have.
    static func match(
        method: String, path: [String], app: String
    ) throws(KiiFailure) -> (Route, parameters: [String: String]) {
        guard path.count > 1 else { throw RouteTable.nothing(at: path) }
        let routes: [Route]
        let rest: ArraySlice<String>
        switch path[0] {
        case "api", "thing-if":
            let isThingIF = path[0] == "thing-if"
            if path[1] == "apps", path.count > 3 {
                guard path[2] == app else { throw .appNotFound(path[2]) }
                (routes, rest) = (isThingIF ? RouteTable.ofThingIF : RouteTable.ofApp, path[3...])
            } else {
                (routes, rest) = (isThingIF ? [] : RouteTable.global, path[1...])
            }
        case "__kii": (routes, rest) = (RouteTable.ofEmulator, path[1...])
        default: throw RouteTable.nothing(at: path)
        }
        var allowed: [String] = []
        for route in routes {
            guard let parameters = route.match(rest) else { continue }
            // RFC 9110 section 9.3.2: HEAD is GET without the content, which the server leaves out.
            if route.method == method || (method == "HEAD" && route.method == "GET") { return (route, parameters) }
            guard !allowed.contains(route.method) else { continue }
            allowed += route.method == "GET" ? ["GET", "HEAD"] : [route.method]
        }
        guard !allowed.isEmpty else { throw RouteTable.nothing(at: path) }
        throw .methodNotAllowed(method, allowed: allowed)
    }

    private static func nothing(at path: [String]) -> KiiFailure { .pathNotFound("/" + path.joined(separator: "/")) }
}
