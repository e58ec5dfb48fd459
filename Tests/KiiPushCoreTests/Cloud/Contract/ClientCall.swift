import Contract
import KiiPushCore
import Testing

struct ClientCall: Sendable, CustomTestStringConvertible {
    var id: String
    var method: String
    /// The difference from other rows of the same call and method.
    var note = ""
    var makes: @Sendable (Variant) -> Bool = { _ in true }
    /// Percent-encoded parameters of the path that differ from the contract's samples.
    var parameters: [String: String] = [:]
    var query = ""
    /// `nil`: the contract's sample.
    var body: JSONValue?
    /// `nil`: the contract's first.
    var mediaType: String?
    /// `nil`: the contract's sample.
    var reply: JSONValue?
    /// The refusals that the method returns as a result instead of throwing them.
    var answers: Set<String> = []
    var call: @Sendable (KiiClient, Variant) async throws -> Void

    var testDescription: String { self.note.isEmpty ? "\(self.id) \(self.method)" : "\(self.id), \(self.note)" }
}

let alice = Principal.user("u1")
let lamp = Principal.thing("th.1")

extension Variant {
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
