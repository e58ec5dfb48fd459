import CKiiPush
import TestSupport
import Testing

/// Errors in a configuration name the member by JSON Pointer, and never show its value.
@Suite struct ConfigurationTests {
    @Test(arguments: [
        (#"[]"#, "the document must be an object"),
        (#"{"#, "the document is not JSON at byte 1"),
        (#"{"stateDir": "/tmp"}"#, "/stateDir is unknown; there is stateDirectory,"),
        (#"{"a/b": 1}"#, "/a~1b is unknown"),
        (#"{"inbox": "file", "inbox": "memory"}"#, "/inbox is there twice"),
        (#"{"inbox": "disk"}"#, "/inbox must be one of file, memory"),
        (#"{"stateDirectory": ""}"#, "/stateDirectory must be a text"),
        (#"{"stateDirectory": "a\u0000b"}"#, "/stateDirectory must be a text"),
        (#"{"concurrentHandlers": 0}"#, "/concurrentHandlers has to be 1 to 10,000"),
        (#"{"concurrentHandlers": 1.5}"#, "/concurrentHandlers must be a whole number"),
        (#"{"concurrentHandlers": 1e30}"#, "/concurrentHandlers must be a whole number"),
        (#"{"retryDelays": [1, -1]}"#, "/retryDelays/1 must be a number of seconds"),
        (#"{"retryDelays": [1e7]}"#, "/retryDelays holds a pause"),
        (#"{"shutdownGrace": 1e300}"#, "/shutdownGrace must be a number of seconds"),
        (#"{"isStrictlyOrdered": 1}"#, "/isStrictlyOrdered must be true or false"),
        (#"{"callTimeout": 0}"#, "/callTimeout has to be more than zero"),
        (#"{"certificateAuthorityFile": "/nowhere.pem"}"#, ""),
    ])
    func aRuntimesMistakesAreNamed(json: String, text: String) {
        var runtime: kii_push_runtime = 0
        let failure = failure { kii_push_open(UInt32(KII_PUSH_API), json, json.utf8.count, &runtime, $0) }
        #expect(failure?.code == KII_PUSH_E_CONFIGURATION)
        #expect(failure?.text.hasPrefix(text) == true, "\(failure?.text ?? "")")
        #expect(runtime == 0)
    }

    private static let app = #""app": {"id": "a", "key": "topsecret", "baseURL": "http://127.0.0.1:1/api"}"#
    private static let user = #""account": {"type": "pseudoUser"}"#

    @Test(arguments: [
        (#"{\#(user)}"#, "/app is missing"),
        (#"{\#(app)}"#, "/account is missing"),
        (#"{"app": {"id": "a", "key": "topsecret"}, \#(user)}"#, "/app/baseURL is missing"),
        (#"{"app": {"id": "a", "key": "topsecret", "baseURL": "ftp://x"}, \#(user)}"#, "/app/baseURL must be"),
        (#"{"app": {"id": "a", "key": "top secret", "baseURL": "https://x"}, \#(user)}"#, "/app/key must be"),
        (#"{\#(app), "account": {"type": "admin"}}"#, "/account/type must be one of pseudoUser, user, thing"),
        (#"{\#(app), "account": {"type": "pseudoUser", "name": "x"}}"#, "/account/name is unknown"),
        (#"{\#(app), "account": {"type": "user", "name": "x"}}"#, "/account/password is missing"),
        (#"{\#(app), "account": {"type": "thing", "password": "topsecret"}}"#, "/account/vendorThingID is missing"),
        (#"{\#(app), \#(user), "name": "../x"}"#, "/name must be 1 to 64"),
        (#"{\#(app), \#(user), "keepAlive": 64801}"#, "/keepAlive is longer than 18 h"),
        (#"{\#(app), \#(user), "transport": "udp"}"#, "/transport must be one of automatic, tcp, webSocket"),
        (
            #"{\#(app), \#(user), "subscriptions": [{"topic": "a"}, {"topic": "b c"}]}"#,
            "/subscriptions/1/topic must be"
        ),
        (#"{\#(app), \#(user), "subscriptions": [{"topic": "a", "bucket": "b"}]}"#, "/subscriptions/0 must have"),
        (#"{\#(app), \#(user), "subscriptions": [{"topic": "a", "scope": "us"}]}"#, "/subscriptions/0/scope must be"),
        (#"{\#(app), \#(user), "subscriptions": [7]}"#, "/subscriptions/0 must be an object"),
    ])
    func anAgentsMistakesAreNamed(json: String, text: String) async throws {
        try await withRuntime { runtime in
            var agent: kii_push_agent = 0
            let failure = failure {
                kii_push_agent_new(runtime, json, json.utf8.count, { _, _ in 0 }, nil, &agent, $0)
            }
            #expect(failure?.code == KII_PUSH_E_CONFIGURATION)
            #expect(failure?.text.hasPrefix(text) == true, "\(failure?.text ?? "")")
            #expect(failure?.text.contains("secret") == false)
        }
    }

    /// The network thread gets these members, and refuses unusable values.
    @Test(arguments: [
        (#""clientCertificateFile": "/nowhere/a.pem""#, "the client certificate /nowhere/a.pem cannot be read"),
        (#""clientKeyFile": "/nowhere/client.key""#, "there is a client key, and no client certificate"),
        (#""userAgent": "two\nlines""#, "the user agent holds something other than printable ASCII"),
    ])
    func whatTheTransportCannotUseIsRefused(member: String, text: String) {
        let json = #"{"stateDirectory": "/nowhere", \#(member)}"#
        var runtime: kii_push_runtime = 0
        let failure = failure { kii_push_open(UInt32(KII_PUSH_API), json, json.utf8.count, &runtime, $0) }
        #expect(failure?.code == KII_PUSH_E_CONFIGURATION)
        #expect(failure?.text.hasPrefix(text) == true, "\(failure?.text ?? "")")
    }

    @Test func aNameIsGivenOnce() async throws {
        try await withRuntime { runtime in
            let json = "{\(Self.app), \(Self.user)}"
            var agent: kii_push_agent = 0
            try succeed { kii_push_agent_new(runtime, json, json.utf8.count, { _, _ in 0 }, nil, &agent, $0) }
            let failure = failure {
                kii_push_agent_new(runtime, json, json.utf8.count, { _, _ in 0 }, nil, &agent, $0)
            }
            #expect(failure?.text.hasPrefix("/name is that of another agent") == true)
        }
    }
}

/// Runs `body` with a new runtime, and closes the runtime afterwards.
func withRuntime(
    _ members: String = "", _ body: @escaping @Sendable (kii_push_runtime) throws -> Void
) async throws {
    try await withTemporaryDirectory { directory in
        try await onThread {
            let json = #"{"stateDirectory": "\#(directory)/state", "proxy": null\#(members)}"#
            var runtime: kii_push_runtime = 0
            try succeed { kii_push_open(UInt32(KII_PUSH_API), json, json.utf8.count, &runtime, $0) }
            defer { _ = kii_push_close(runtime, nil) }
            try body(runtime)
        }
    }
}
