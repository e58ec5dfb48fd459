package import KiiPushCore

/// What Kii's REST API does, as data: every call and every error that this package speaks of.
///
/// It is read from `Documentation/contract`, and the tests of the client, of the emulator and of the generated pages
/// all go by it.
package struct Contract: Sendable {
    package var areas: [Area]
    package var errors: [ContractError]
    /// Of errors in general.
    package var aboutErrors: String
    package var parameters: [Parameter]
    package var choices: [Choice]

    /// Calls that belong together: one file.
    package struct Area: Sendable {
        package var title: String
        package var about: String
        package var endpoints: [Endpoint]
    }

    /// What stands for a `{name}` in a path.
    package struct Parameter: Sendable {
        package var name: String
        /// A value that is legal and needs no percent-encoding.
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

    /// All calls, in the order of the pages.
    package var endpoints: [Endpoint] { self.areas.flatMap { $0.endpoints } }

    package func endpoint(_ id: String) -> Endpoint? { self.endpoints.first { $0.id == id } }

    package func error(_ code: String) -> ContractError? { self.errors.first { $0.code == code } }

    package func sample(of parameter: String) -> String? {
        self.parameters.first { $0.name == parameter }?.sample
    }

    /// The errors that `endpoint` can have: those it names, and those of every call of its kind.
    package func errors(of endpoint: Endpoint) -> [NamedError] {
        let named = Set(endpoint.errors.map { $0.code })
        let common = self.errors.filter { $0.applies(to: endpoint) && !named.contains($0.code) }
            .map { NamedError(code: $0.code, when: $0.meaning, labels: []) }
        return endpoint.errors + common
    }
}

extension Contract {
    /// The codes that a request to `path` can be answered with, whichever of the calls it is that share the path.
    ///
    /// Bad credentials are refused wherever they are sent, and every path can be misspelt.
    package func codes(for method: String, at path: String, of service: Endpoint.Service) -> Set<String> {
        // HEAD is answered as GET where it is no call of its own.
        let asked = method == "HEAD" ? ["HEAD", "GET"] : [method]
        var codes = Set(
            self.errors.filter { [.credentials, .token, .user, .thing].contains($0.extent) }.map { $0.code })
        codes.formUnion(["RESOURCE_NOT_FOUND", "METHOD_NOT_ALLOWED"])
        // Each of the emulator's own calls refuses query items that it does not know.
        if service == .emulator { codes.insert("INVALID_INPUT_DATA") }
        // The app is looked for before the method.
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

    /// Whether a request to `path` can be one to `pattern`, whose `{name}` stands for any segment.
    private static func covers(_ pattern: String, _ path: String) -> Bool {
        let (pattern, path) = (pattern.split(separator: "/"), path.split(separator: "/"))
        return pattern.count == path.count && zip(pattern, path).allSatisfy { $0 == $1 || $0.hasPrefix("{") }
    }
}

/// An error that a call can have.
package struct NamedError: Sendable {
    package var code: String
    package var when: String
    /// Where it is possible, by the labels of choices; everywhere when empty.
    package var labels: [String]

    /// Whether `variant` can have it: for each of its choices that a label is of, one of them is its own.
    package func applies(to variant: Variant) -> Bool {
        self.labels.isEmpty || !Set(self.labels).isDisjoint(with: variant.labels.values)
    }
}

/// A row of the error table.
package struct ContractError: Sendable {
    /// Which calls have it without naming it.
    package enum Extent: String, Sendable {
        /// Calls with a body of JSON.
        case body
        /// Calls that need credentials of any kind.
        case credentials
        /// Calls that need a token.
        case token
        /// The same, when the token is that of a user.
        case user
        /// The same, when the token is that of a thing.
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
    /// Whether `Retry-After` comes with it.
    package var hasRetryAfter: Bool
    package var extent: Extent?
    /// Whether the emulator gives it only when told to.
    package var isFault: Bool
    /// Whether it is the emulator's own, with no code of Kii's known.
    package var isOwn: Bool

    /// OAuth's codes are the ones in small letters.
    private var isOfOAuth: Bool { self.code == self.code.lowercased() }

    package var mediaType: String { self.isOfOAuth ? "application/json" : "application/vnd.kii.\(self.exception)+json" }

    /// The members that every refusal of its kind has, with what they say here.
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
