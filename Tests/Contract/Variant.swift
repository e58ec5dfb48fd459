/// A call with one choice made for each alternative of its path, such as "create a topic" in a user's scope.
package struct Variant: Sendable, CustomStringConvertible {
    package var endpoint: Endpoint
    /// The chosen label for each choice's name.
    package var labels: [String: String]
    /// The path with parameters only.
    package var path: String

    package var description: String {
        ([self.endpoint.id] + self.labels.sorted { $0.key < $1.key }.map { $0.value }).joined(separator: ", ")
    }

    package var parameterNames: [String] {
        self.path.split(separator: "/").filter { $0.hasPrefix("{") }.map { String($0.dropFirst().dropLast()) }
    }

    /// The path with `values` for its parameters, each already percent-encoded.
    package func path(_ values: (String) -> String) -> String {
        self.path.split(separator: "/")
            .map { "/" + ($0.hasPrefix("{") ? values(String($0.dropFirst().dropLast())) : String($0)) }.joined()
    }
}

extension Contract {
    /// One variant for each possible combination of choices in the path of `endpoint`.
    package func variants(of endpoint: Endpoint) -> [Variant] { self.variants.filter { $0.endpoint.id == endpoint.id } }

    /// One variant for each possible combination of `choices` in the path of `endpoint`.
    static func variants(of endpoint: Endpoint, _ choices: [Choice]) -> [Variant] {
        var variants = [Variant(endpoint: endpoint, labels: [:], path: endpoint.path)]
        for choice in choices where endpoint.path.contains("{\(choice.name)}") {
            variants = variants.flatMap { variant in
                choice.paths.map { path in
                    var chosen = variant
                    chosen.labels[choice.name] = path.label
                    chosen.path = variant.path.replacing("{\(choice.name)}", with: path.path)
                    return chosen
                }
            }
        }
        return variants
    }

    /// Every method and path that the cloud has, as `PUT /api/apps/{}/topics/{}`.
    package var routes: Set<String> {
        var routes: Set<String> = []
        for variant in self.variants {
            for path in [variant.path] + variant.endpoint.alsoAt {
                routes.insert(
                    Contract.route(variant.endpoint.method, "/\(variant.endpoint.service.rawValue)\(path)"))
            }
        }
        return routes
    }

    /// A method and a path whose parameters have no names, because each side names them differently.
    package static func route(_ method: String, _ path: String) -> String {
        let segments = path.split(separator: "/").map { $0.hasPrefix("{") ? "{}" : String($0) }
        return "\(method) /\(segments.joined(separator: "/"))"
    }
}
