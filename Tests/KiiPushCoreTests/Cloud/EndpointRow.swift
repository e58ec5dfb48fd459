import KiiPushCore
import Testing

/// One row: a call, the request it must make, and the statuses that it takes for success.
struct EndpointRow: Sendable, CustomTestStringConvertible {
    var name: String
    var method: String
    /// The service's root.
    var root = "https://cloud.test/api"
    /// Below ``root``.
    var target: String
    var authorization: String?
    var mediaType: String?
    /// `nil` for no body at all, empty for a body of length 0.
    var body: String?
    var successes: [Int]
    /// A body that each success may have.
    var reply: String
    /// Refusals that stay errors.
    var refusals: [(Int, String)]
    var call: @Sendable (KiiClient) async throws -> Void

    var testDescription: String { self.name }
}

let basicField = "Basic YTE6ay1zZWNyZXQ="  // a1:k-secret
let bearerField = "Bearer t-secret"
let vendorPrefix = "application/vnd.kii."
let alice = Principal.user("u1")
let lamp = Principal.thing("th.1")
