extension RouteTable {
    /// Every method and path that can be asked for, as `PUT /api/apps/{app}/topics/{topic}`, for comparing with a
    /// contract. A method that a path has for GET's sake, HEAD, is not listed.
    package static let listing: [String] = RouteTable.roots.flatMap { root, routes in
        routes.map { route in
            let path = route.pattern.map { segment in
                switch segment {
                case .word(let word): "/\(word)"
                case .parameter(let name): "/{\(name)}"
                }
            }
            return "\(route.method) \(root)\(path.joined())"
        }
    }
}
