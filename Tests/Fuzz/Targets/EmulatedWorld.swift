import KiiPushCore
import KiiPushEmulator

/// An emulated cloud with an example of everything, under names short enough for the fuzzer to guess.
///
/// The users are `u` and `v`, the thing is `th.t` with the vendor's ID `w`, and the group is `g`. The installation `i`
/// belongs to `u`, `j` to the thing. The topics are `x`, the bucket `bb` has the object `oo`, and the thing's command
/// is `c`. The tokens are `tu`, `tv` and `tt`; the administrator's is `ta`.
enum EmulatedWorld {
    static let now = Timestamp(millisecondsSinceEpoch: 1_700_000_000_000)

    static let settings: EmulatedCloud.Settings = {
        var identifiers = Identifiers(generator: CountingGenerator())
        return EmulatedCloud.Settings(
            app: AppIdentity(identifiers: &identifiers), brokerPorts: BrokerPorts(tcp: 4001, tls: 4002),
            baseURL: "http://127.0.0.1:4000/api")
    }()

    /// Secrets that neither a refusal nor an overview may show: a user's and the broker's password, and the
    /// administrator's secret.
    static let secrets = [Array("correct-horse".utf8), Array(settings.app.clientSecret.reveal().utf8)]

    /// The stored rows, by table and key.
    static let rows: [String: (table: String, value: JSONValue)] = {
        var rows: [String: (table: String, value: JSONValue)] = [:]
        for (table, key, text) in Self.stored { rows["\(table) \(key)"] = (table, Self.value(text)) }
        return rows
    }()

    static var cloud: EmulatedCloud {
        let identifiers = Identifiers(generator: CountingGenerator())
        return EmulatedCloud(settings: Self.settings, state: Self.state, identifiers: identifiers)
    }

    private static let state: CloudState = {
        var state = CloudState()
        for (table, key, text) in Self.stored {
            let isTaken = state.load(table: table, value: Self.value(text))
            precondition(isTaken, "the row \(table) \(key) is no such record")
        }
        return state
    }()

    /// Requests whose answers together show everything that is stored.
    static let overviews = ["principals", "installations", "topics", "subscriptions", "buckets"].map { name in
        IncomingRequest(method: "GET", target: "/__kii/\(name)", fields: [HTTPField("Authorization", "Bearer ta")])
    }

    private static func value(_ text: String) -> JSONValue { (try? JSONValue(parsing: Array(text.utf8))) ?? .null }

    private static let stored: [(table: String, key: String, json: String)] = [
        ("user", "u", #"{"id":"u","attributes":{"loginName":"n"},"password":"hunter2hunter2","disabled":false}"#),
        ("user", "v", #"{"id":"v","attributes":{},"password":"correct-horse","disabled":false}"#),
        (
            "thing", "th.t",
            #"{"id":"th.t","vendorThingID":"w","password":"hunter2hunter2","attributes":{"_vendorThingID":"w"},"#
                + #""owners":["u"],"ownerGroups":["g"],"disabled":false,"#
                + #""ownershipRequests":{"user:v":{"code":"c","byThing":true}}}"#
        ),
        ("group", "g", #"{"id":"g","name":"team","owner":"u","members":["u","v"]}"#),
        ("token", "tu", #"{"token":"tu","caller":"user:u","refreshToken":"ru"}"#),
        ("token", "tv", #"{"token":"tv","caller":"user:v"}"#),
        ("token", "tt", #"{"token":"tt","caller":"thing:th.t"}"#),
        ("token", "ta", #"{"token":"ta","caller":"admin"}"#),
        (
            "installation", "i",
            #"{"id":"i","deviceType":"MQTT","registrationID":"r","owner":"user:u","development":false,"#
                + #""createdAt":1699999999000,"username":"m","password":"correct-horse"}"#
        ),
        (
            "installation", "j",
            #"{"id":"j","deviceType":"MQTT","registrationID":"s","owner":"thing:th.t","development":false,"#
                + #""createdAt":1699999999000,"username":"k","password":"correct-horse"}"#
        ),
        (
            "command", "c",
            #"{"id":"c","thing":"th.t","number":0,"request":{"issuer":"user:u","actions":[{"a":[{"b":1}]}]},"#
                + #""state":"SENDING","createdAt":1699999999000,"modifiedAt":1699999999000}"#
        ),
        ("topic", "topics/x", #"{"scope":"","id":"x","creator":"admin"}"#),
        ("topic", "users/u/topics/x", #"{"scope":"users/u/","id":"x","creator":"user:u"}"#),
        ("bucket", "buckets/bb", #"{"scope":"","id":"bb","creator":"user:u"}"#),
        ("subscription", "topics/x user:u", #"{"scope":"","topic":"x","subscriber":"user:u"}"#),
        ("subscription", "buckets/bb user:u", #"{"scope":"","bucket":"bb","subscriber":"user:u"}"#),
        (
            "object", "buckets/bb/objects/oo",
            #"{"scope":"","bucket":"bb","id":"oo","creator":"user:u","createdAt":1699999999000,"#
                + #""modifiedAt":1699999999000,"version":1,"data":{"a":1}}"#
        ),
    ]
}

/// Yields the same numbers in every run.
private struct CountingGenerator: RandomNumberGenerator {
    private var state: UInt64 = 0

    mutating func next() -> UInt64 {
        self.state = self.state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return self.state &* 0x9E37_79B9_7F4A_7C15 ^ self.state >> 29
    }
}
