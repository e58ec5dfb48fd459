import Contract
import KiiPushCore
import Testing

/// How the client makes one of the contract's calls.
struct ClientCall: Sendable, CustomTestStringConvertible {
    /// The call's ID in the contract.
    var id: String
    /// The method of ``KiiClient``, as the contract names it.
    var method: String
    /// What tells it from other rows of the same call and method.
    var note = ""
    /// Whether the call is made with the variant's choices.
    var makes: @Sendable (Variant) -> Bool = { _ in true }
    /// The path's parameters, percent-encoded, where they differ from the contract's samples.
    var parameters: [String: String] = [:]
    /// What follows the path, with its question mark.
    var query = ""
    /// The body, where it differs from the contract's sample.
    var body: JSONValue?
    /// The media type of the body, where it is not the first of the contract's.
    var mediaType: String?
    /// The reply's body, where it differs from the contract's sample.
    var reply: JSONValue?
    /// The refusals that are answers to the method.
    var answers: Set<String> = []
    /// Makes the call and looks at what it returns.
    var call: @Sendable (KiiClient, Variant) async throws -> Void

    var testDescription: String { self.note.isEmpty ? "\(self.id) \(self.method)" : "\(self.id), \(self.note)" }
}

let alice = Principal.user("u1")
let lamp = Principal.thing("th.1")

extension Variant {
    /// The scope of the contract's samples.
    var scope: Scope {
        switch self.labels["scope"] {
        case "user scope": .user("u1")
        case "group scope": .group("g1")
        case "thing scope": .thing("th.1")
        default: .app
        }
    }

    var topic: Topic { Topic("news", in: self.scope) }
    var bucket: Bucket { Bucket("notes", in: self.scope) }
    var object: ObjectReference { ObjectReference("o-1", in: self.bucket) }

    var target: SubscriptionTarget {
        self.labels["source"] == "topic" ? .topic(self.topic) : .bucket(self.bucket)
    }

    var subscriber: Principal { self.labels["subscriber"] == "user subscriber" ? alice : lamp }
}
