package import KiiPushCore

/// The contract of Kii's REST API as data: every call and every error that this package uses.
///
/// `Documentation/contract` has the data. The tests of the client and of the emulator and the generated pages use it.
package struct Contract: Sendable {
    package let areas: [Area]
    /// All calls, in the order of the pages.
    package let endpoints: [Endpoint]
    /// All calls with each combination of choices in their paths.
    package let variants: [Variant]
    package let errors: [ContractError]
    /// Markdown about errors in general.
    package let aboutErrors: String
    package let parameters: [Parameter]
    package let choices: [Choice]

    /// Related calls, which share a file.
    package struct Area: Sendable {
        package var title: String
        package var about: String
        package var endpoints: [Endpoint]
    }

    /// A `{name}` of a path and its possible values.
    package struct Parameter: Sendable {
        package var name: String
        /// A legal value that needs no percent-encoding.
        package var sample: String
        package var rule: String
    }

    /// A `{name}` that stands for one of several paths, such as the four scopes.
    package struct Choice: Sendable {
        package var name: String
        package var paths: [Path]

        package struct Path: Sendable {
            package var label: String
            package var path: String
        }
    }

    package func endpoint(_ id: String) -> Endpoint? { self.endpoints.first { $0.id == id } }

    package func error(_ code: String) -> ContractError? { self.errors.first { $0.code == code } }

    package func sample(of parameter: String) -> String? {
        self.parameters.first { $0.name == parameter }?.sample
    }

    /// The errors in the list of `endpoint`, and the errors of every call of its kind.
    package func errors(of endpoint: Endpoint) -> [NamedError] {
        let named = Set(endpoint.errors.map { $0.code })
        let common = self.errors.filter { $0.applies(to: endpoint) && !named.contains($0.code) }
            .map { NamedError(code: $0.code, when: $0.meaning, labels: []) }
        return endpoint.errors + common
    }
}

extension Contract {
    /// The possible codes of an answer to `path`, for all calls that share the path.
    ///
    /// Every call refuses bad credentials, and every path may be misspelt.
    package func codes(for method: String, at path: String, of service: Endpoint.Service) -> Set<String> {
        // HEAD has the answers of GET unless it is a call of its own.
        let asked = method == "HEAD" ? ["HEAD", "GET"] : [method]
        var codes = Set(
            self.errors.filter { [.credentials, .token, .user, .thing].contains($0.extent) }.map { $0.code })
        codes.formUnion(["RESOURCE_NOT_FOUND", "METHOD_NOT_ALLOWED"])
        // Each of the emulator's own calls refuses unknown query items.
        if service == .emulator { codes.insert("INVALID_INPUT_DATA") }
        // The emulator checks the app before the method.
        if path.hasPrefix("/apps/{app}") { codes.formUnion(self.errors.filter { $0.extent == .app }.map { $0.code }) }
        for variant in self.variants {
            let endpoint = variant.endpoint
            guard asked.contains(endpoint.method), endpoint.service == service,
                ([variant.path] + endpoint.alsoAt).contains(where: { Contract.covers($0, path) })
            else { continue }
            codes.formUnion(self.errors(of: endpoint).filter { $0.applies(to: variant) }.map { $0.code })
        }
        return codes
    }

    /// Whether `path` can match `pattern`. A `{name}` of the pattern stands for any segment.
    private static func covers(_ pattern: String, _ path: String) -> Bool {
        let (pattern, path) = (pattern.split(separator: "/"), path.split(separator: "/"))
        return pattern.count == path.count && zip(pattern, path).allSatisfy { $0 == $1 || $0.hasPrefix("{") }
    }
}

package struct NamedError: Sendable {
    package var code: String
    package var when: String
    /// The labels of the choices that can have the error; empty for all.
    package var labels: [String]

    package func applies(to variant: Variant) -> Bool {
        self.labels.isEmpty || !Set(self.labels).isDisjoint(with: variant.labels.values)
    }
}

/// A row of the error table.
package struct ContractError: Sendable {
    /// The calls that have the error without listing it.
    package enum Extent: String, Sendable {
        /// Calls with a body of JSON.
        case body
        /// Calls that need credentials of any kind.
        case credentials
        /// Calls that need a token.
        case token
        /// Calls that need a token, if a user's token is sent.
        case user
        /// Calls that need a token, if a thing's token is sent.
        case thing
        /// Calls below `/apps/{app}`.
        case app
    }

    package var code: String
    package var status: Int
    package var meaning: String
    /// The name in the media type, such as `TopicNotFoundException`.
    package var exception: String
    /// A sample of the members beside `errorCode` and `message`.
    package var context: JSONValue
    /// Names of members of the context that may be absent or null.
    package var optional: Set<String>
    /// Whether the answer has `Retry-After`.
    package var hasRetryAfter: Bool
    package var extent: Extent?
    /// Whether the emulator returns the error only because of a fault.
    package var isFault: Bool
    /// Whether the error is the emulator's own, because Kii documents no code.
    package var isOwn: Bool

    /// OAuth's codes are in lower case.
    private var isOfOAuth: Bool { self.code == self.code.lowercased() }

    package var mediaType: String { self.isOfOAuth ? "application/json" : "application/vnd.kii.\(self.exception)+json" }

    /// The members that every refusal of this kind has, with their values.
    package func facts(message: String) -> [(String, JSONValue)] {
        let code = ("errorCode", JSONValue(self.code))
        guard self.isOfOAuth else { return [code, ("message", JSONValue(message))] }
        return [code, ("error_description", JSONValue(message)), ("error", JSONValue(self.code))]
    }

    package func applies(to endpoint: Endpoint) -> Bool {
        switch self.extent {
        case nil: false
        case .body: !endpoint.request.mediaTypes.isEmpty && endpoint.request.bytes == nil
        case .credentials: endpoint.auth != .none && !endpoint.needsNoCredentials
        case .token, .user, .thing: endpoint.auth == .token
        case .app: endpoint.path.hasPrefix("/apps/{app}")
        }
    }
}
