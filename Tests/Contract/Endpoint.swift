package import KiiPushCore

/// One call of the contract.
package struct Endpoint: Sendable {
    package enum Service: String, Sendable {
        /// Kii's REST API, below `/api`.
        case api
        /// thing-if, below `/thing-if`.
        case thingIF = "thing-if"
        /// The emulator's own, below `/__kii`.
        case emulator = "__kii"
    }

    package enum Auth: String, Sendable {
        /// No `Authorization`: the body proves the caller's identity.
        case none
        /// `Basic` with the app's ID and key.
        case app
        /// `Bearer` with a principal's token.
        case token
        /// The administrator's token, or `Basic` with client ID and secret.
        case administrator
    }

    package var id: String
    package var title: String
    package var method: String
    /// The path below the service's root, with `{name}` for parameters and choices.
    package var path: String
    /// Whether the call also exists with HEAD.
    package var hasHead: Bool
    /// Further paths with the same meaning.
    package var alsoAt: [String]
    package var service: Service
    package var auth: Auth
    /// Whether the credentials may be absent if the path names the app.
    package var needsNoCredentials: Bool
    /// The required owner of the credentials.
    package var who: String?
    /// The methods of ``KiiClient`` that make the call.
    package var client: [String]
    /// The reason for a call without a method of ``KiiClient``.
    package var withoutClient: String?
    package var request: Request
    package var replies: [Reply]
    /// The statuses that the client accepts as success: the replies' own, and others where Kii's pages disagree.
    package var accepted: [Int]
    package var errors: [NamedError]
    /// The page of Kii's documentation that describes the call.
    package var source: String

    package struct Request: Sendable {
        package var query: [Member] = []
        /// The accepted media types of the body; the client sends the first.
        package var mediaTypes: [String] = []
        /// Whether the emulator accepts any other media type, and none.
        package var takesAnyMediaType = false
        /// Whether the media type may be absent.
        package var needsNoMediaType = false
        package var members: [Member] = []
        /// The further members that the body may have; `nil` if none.
        package var open: String?
        /// Further rules, each a sentence.
        package var rules: [String] = []
        package var sample: JSONValue?
        /// Whether the body must be empty, without a media type.
        package var isEmpty = false
        /// The content of a body that is not JSON.
        package var bytes: String?
    }

    package struct Member: Sendable {
        package var name: String
        /// JSON types: `string`, `boolean`, `integer`, `number`, `object`, `array`.
        package var types: [String]
        package var isRequired: Bool
        package var rule: String?
    }

    package struct Reply: Sendable {
        package var status: Int
        package var when: String?
        package var mediaType: String?
        /// The names of the headers that the reply has.
        package var headers: [String]
        package var sample: JSONValue?
        /// Names of members of the sample that may be absent.
        package var optional: Set<String>
    }

    /// Whether ``KiiClient`` must have the call.
    package var bindsClient: Bool { self.withoutClient == nil && self.service != .emulator }
}
