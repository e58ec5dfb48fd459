import KiiPushCore

package enum RouteTable {
    private static let ofApp: [Route] = [
        Route.accounts, Route.deletions, Route.groups, Route.ownership, Route.installations, Route.topics,
        Route.buckets,
    ].flatMap { $0 }

    private static let ofThingIF: [Route] = Route.onboarding + Route.commands

    private static let ofEmulator: [Route] = Route.inspection + Route.controls

    /// The methods and paths, such as `PUT /api/apps/{app}/topics/{topic}`. Paths with GET also answer HEAD.
    package static let listing: [String] = [
        ("/api", [Route.token]), ("/api/apps/{app}", RouteTable.ofApp), ("/thing-if/apps/{app}", RouteTable.ofThingIF),
        ("/__kii", RouteTable.ofEmulator),
    ].flatMap { root, routes in routes.map { "\($0.method) \(root)/\($0.path)" } }

    /// - Throws: ``KiiFailure`` 404 for an unknown path or for an app other than `app`, 405 for a method that the path
    ///   does not have.
    static func match(
        method: String, path: [String], app: String
    ) throws(KiiFailure) -> (Route, parameters: [String: String]) {
        func nothing() -> KiiFailure {
            KiiFailure(404, "RESOURCE_NOT_FOUND", "Nothing is at /\(path.joined(separator: "/")).")
        }
        guard path.count > 1 else { throw nothing() }
        let (routes, rest): ([Route], ArraySlice<String>)
        switch (path[0], path[1]) {
        case ("api", "apps") where path.count > 3, ("thing-if", "apps") where path.count > 3:
            guard path[2] == app else { throw .appNotFound(path[2]) }
            (routes, rest) = (path[0] == "api" ? RouteTable.ofApp : RouteTable.ofThingIF, path[3...])
        case ("api", _): (routes, rest) = ([Route.token], path[1...])
        case ("__kii", _): (routes, rest) = (RouteTable.ofEmulator, path[1...])
        default: throw nothing()
        }
        var allowed: [String] = []
        for route in routes {
            guard let parameters = route.match(rest) else { continue }
            // RFC 9110 section 9.3.2: HEAD is GET without the content, which the HTTP server leaves out.
            if route.method == method || (method == "HEAD" && route.method == "GET") { return (route, parameters) }
            guard !allowed.contains(route.method) else { continue }
            allowed += route.method == "GET" ? ["GET", "HEAD"] : [route.method]
        }
        guard !allowed.isEmpty else { throw nothing() }
        throw KiiFailure(
            405, "METHOD_NOT_ALLOWED", "\(method) is not possible here.",
            fields: [HTTPField("Allow", allowed.joined(separator: ", "))])
    }
}
