package import KiiPushCore

/// One call: one object of the contract.
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
        /// No `Authorization`: what proves the caller is in the body.
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
    /// Whether HEAD is asked for as well.
    package var hasHead: Bool
    /// Further paths with the same meaning.
    package var alsoAt: [String]
    package var service: Service
    package var auth: Auth
    /// Whether the credentials may be absent where the path names the app.
    package var needsNoCredentials: Bool
    /// Whose credentials they have to be.
    package var who: String?
    /// The client's methods, as ``KiiClient`` has them.
    package var client: [String]
    /// Why the client has none.
    package var withoutClient: String?
    package var request: Request
    package var replies: [Reply]
    /// The statuses that a client takes for success: those of the replies, and those where Kii's pages disagree.
    package var accepted: [Int]
    package var errors: [NamedError]
    /// Which of Kii's pages says so.
    package var source: String

    package struct Request: Sendable {
        package var query: [Member] = []
        /// What the body may be sent as; the client sends the first.
        package var mediaTypes: [String] = []
        /// Whether any other media type, or none, will do as well.
        package var takesAnyMediaType = false
        /// Whether there may be none.
        package var needsNoMediaType = false
        package var members: [Member] = []
        /// What further members may be there; `nil` when none.
        package var open: String?
        /// Further rules, each a sentence.
        package var rules: [String] = []
        package var sample: JSONValue?
        /// The body is there and has no bytes and no media type.
        package var isEmpty = false
        /// What the body is when it is not JSON.
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
        /// Fields that are there.
        package var headers: [String]
        package var sample: JSONValue?
        /// Names of members of the sample that may be absent.
        package var optional: Set<String>
    }

    /// Whether the client has to have it.
    package var bindsClient: Bool { self.withoutClient == nil && self.service != .emulator }
}
