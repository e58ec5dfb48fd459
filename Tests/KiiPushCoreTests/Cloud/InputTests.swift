import KiiPushCore
import TestSupport
import Testing

struct InputRow: Sendable, CustomTestStringConvertible {
    var name: String
    var field: KiiInputError.Field
    var app = testApp
    var call: @Sendable (KiiClient) async throws -> Void

    var testDescription: String { self.name }
}

@Suite struct InputTests {
    @Test(arguments: segmentRows + accountRows + memberRows + installationRows + otherRows + appRows)
    func badInputIsRefusedBeforeAnythingIsSent(_ row: InputRow) async throws {
        let (requests, result) = await exchange(.status(200, "{}"), app: row.app, body: row.call)
        let error = #expect(throws: KiiInputError.self) { try result.get() }
        #expect(error?.field == row.field)
        #expect(requests.isEmpty)
        let description = try #require(error).description
        #expect(description.hasPrefix("\(row.field.rawValue)"))
        #expect(!description.contains("s3cr") && !description.contains("\n"))
    }

    @Test func anIDWithOddCharactersStaysInItsSegment() async throws {
        let odd = "../a/b?c#d%2e&e=f;g h\r\nX: y\u{0}ä😀"
        let (requests, _) = await exchange(.status(204)) {
            try await $0.session(testToken).subscribe(to: .bucket(Bucket(odd, in: .group(odd))), as: .user(odd))
        }
        let segment = "..%2Fa%2Fb%3Fc%23d%252e%26e%3Df%3Bg%20h%0D%0AX:%20y%00%C3%A4%F0%9F%98%80"
        let path = "groups/\(segment)/buckets/\(segment)/filters/all/push/subscriptions/users/\(segment)"
        #expect(requests.map(\.url) == ["https://cloud.test/api/apps/a1/\(path)"])
    }

    @Test(arguments: [
        ("http://127.0.0.1:8080/api", "http://127.0.0.1:8080/api/apps/a1/topics/t"),
        ("https://cloud.test/api//", "https://cloud.test/api/apps/a1/topics/t"),
        ("HTTPS://cloud.test", "HTTPS://cloud.test/apps/a1/topics/t"),
    ])
    func theBaseURLIsPutInFront(baseURL: String, url: String) async throws {
        let app = KiiApp(appID: "a1", appKey: "k", baseURL: baseURL)
        let (requests, _) = await exchange(.status(204), app: app) {
            try await $0.session(testToken).createTopic(Topic("t"))
        }
        #expect(requests.map(\.url) == [url])
    }

    @Test func plainHTTPWithAnotherMachineIsAskedForByName() async throws {
        let app = KiiApp(appID: "a1", appKey: "k", baseURL: "http://cloud.test/api", allowsPlainHTTP: true)
        let (requests, _) = await exchange(.status(204), app: app) {
            try await $0.session(testToken).createTopic(Topic("t"))
        }
        #expect(requests.map(\.url) == ["http://cloud.test/api/apps/a1/topics/t"])
    }

    @Test(arguments: [
        ("http://127.0.0.1:8080", true), ("http://127.1.2.3", true), ("http://localhost/x", true),
        ("http://LOCALHOST:1", true), ("http://[::1]:1", true), ("http://127.0.0.1.test", false),
        ("http://127.0.0", false), ("http://127.0.0.256", false), ("http://127.0.0.+1", false),
        ("http://localhost.test", false), ("http://[::ffff:1]", false), ("http://128.0.0.1", false),
    ])
    func knowsTheAddressesOfThisMachine(url: String, isLoopback: Bool) throws {
        #expect(try #require(Origin(of: url)).isLoopback == isLoopback)
    }

    @Test(arguments: [
        ("https://api.kii.com/api", "https://api.kii.com"), ("https://API.kii.com:443", "https://api.kii.com"),
        ("HTTP://h:8080/", "http://h:8080"), ("http://[::1]:80/x", "http://[::1]"), ("https://h\\@e/", "https://h"),
    ])
    func anOriginIsSchemeHostAndPort(url: String, origin: String) throws {
        #expect(try #require(Origin(of: url)).description == origin)
    }

    @Test(arguments: [
        (KiiSite.us, "https://api.kii.com/api"), (.jp, "https://api-jp.kii.com/api"),
        (.sg, "https://api-sg.kii.com/api"), (.eu, "https://api-eu.kii.com/api"),
        (.cn3, "https://api-cn3.kii.com/api"),
    ])
    func everySiteHasItsAddress(site: KiiSite, baseURL: String) {
        #expect(site.baseURL == baseURL)
    }
}

private let segmentRows: [InputRow] = ["", ".", ".."].flatMap { id -> [InputRow] in
    [
        InputRow(name: "user \(id)", field: .userID) {
            try await $0.session(testToken).subscribe(to: .topic(Topic("t")), as: .user(id))
        },
        InputRow(name: "thing \(id)", field: .thingID) {
            try await $0.session(testToken).subscribe(to: .topic(Topic("t")), as: .thing(id))
        },
        InputRow(name: "group \(id)", field: .groupID) {
            try await $0.session(testToken).createTopic(Topic("t", in: .group(id)))
        },
        InputRow(name: "bucket \(id)", field: .bucketID) {
            _ = try await $0.session(testToken).createObject([:], in: Bucket(id))
        },
        InputRow(name: "object \(id)", field: .objectID) {
            try await $0.session(testToken).deleteObject(ObjectReference(id, in: Bucket("b")))
        },
        InputRow(name: "object to put \(id)", field: .objectID) {
            try await $0.session(testToken).putObject([:], as: ObjectReference(id, in: Bucket("b")))
        },
        InputRow(name: "object to patch \(id)", field: .objectID) {
            try await $0.session(testToken).patchObject([:], of: ObjectReference(id, in: Bucket("b")))
        },
        InputRow(name: "object to read \(id)", field: .objectID) {
            _ = try await $0.session(testToken).object(ObjectReference(id, in: Bucket("b")))
        },
        InputRow(name: "object with a body \(id)", field: .objectID) {
            try await $0.session(testToken).uploadBody([1], of: ObjectReference(id, in: Bucket("b")))
        },
        InputRow(name: "object with a body to read \(id)", field: .objectID) {
            _ = try await $0.session(testToken).body(of: ObjectReference(id, in: Bucket("b")))
        },
        InputRow(name: "object without a body \(id)", field: .objectID) {
            try await $0.session(testToken).deleteBody(of: ObjectReference(id, in: Bucket("b")))
        },
        InputRow(name: "bucket to delete \(id)", field: .bucketID) {
            try await $0.session(testToken).deleteBucket(Bucket(id))
        },
        InputRow(name: "installation \(id)", field: .installationID) {
            _ = try await $0.session(testToken).mqttEndpoint(of: id)
        },
        InputRow(name: "command \(id)", field: .commandID) {
            _ = try await $0.session(testToken).command(id, of: "th.1")
        },
        InputRow(name: "app \(id)", field: .appID, app: KiiApp(appID: id, appKey: "k", baseURL: "https://h")) {
            _ = try await $0.registerPseudoUser()
        },
    ]
}

private let accountRows: [InputRow] =
    ["", "ab", "with space", "a/b", "ä-name", String(repeating: "n", count: 65)].map { (name: String) in
        InputRow(name: "login name \(name)", field: .loginName) {
            _ = try await $0.registerUser(UserRegistration(loginName: name, password: "good"))
        }
    }
    + ["", "abc", "tab\there", "passwörd", String(repeating: "p", count: 51)].map { password in
        InputRow(name: "password \(password)", field: .password) {
            _ = try await $0.registerUser(UserRegistration(loginName: "alice", password: Secret(password)))
        }
    }
    + ["", "a b", "a:b", String(repeating: "v", count: 201)].flatMap { id in
        [
            InputRow(name: "vendor thing ID \(id)", field: .vendorThingID) {
                _ = try await $0.registerThing(ThingRegistration(vendorThingID: id, password: "s3cr3t"))
            },
            InputRow(name: "vendor thing ID \(id) at login", field: .vendorThingID) {
                _ = try await $0.login(.thing(vendorThingID: id, password: "s3cr3t"))
            },
        ]
    }
    + [
        InputRow(name: "no way to sign in", field: .loginName) {
            var registration = UserRegistration(loginName: "alice", password: "s3cr3t")
            registration.loginName = nil
            _ = try await $0.registerUser(registration)
        },
        InputRow(name: "custom fields that are no object", field: .fields) {
            _ = try await $0.registerPseudoUser(UserProfile(customFields: [1]))
        },
        InputRow(name: "a custom field with an underscore", field: .fields) {
            _ = try await $0.registerPseudoUser(UserProfile(customFields: ["_x": 1]))
        },
        InputRow(name: "a custom field with Kii's name", field: .fields) {
            _ = try await $0.registerPseudoUser(UserProfile(customFields: ["password": "x"]))
        },
        InputRow(name: "a thing without a password", field: .password) {
            _ = try await $0.registerThing(ThingRegistration(vendorThingID: "v", password: ""))
        },
        InputRow(name: "a thing's fields that are no object", field: .fields) {
            _ = try await $0.registerThing(ThingRegistration(vendorThingID: "v", password: "p", fields: "x"))
        },
        InputRow(name: "a thing's field that is set already", field: .fields) {
            _ = try await $0.registerThing(
                ThingRegistration(vendorThingID: "v", password: "p", fields: ["_password": "x"]))
        },
        InputRow(name: "login without a name", field: .username) {
            _ = try await $0.login(.user(name: "", password: "s3cr3t"))
        },
        InputRow(name: "login without a password", field: .password) {
            _ = try await $0.login(.user(name: "alice", password: ""))
        },
        InputRow(name: "thing login without a password", field: .password) {
            _ = try await $0.login(.thing(vendorThingID: "v", password: ""))
        },
        InputRow(name: "admin login without an ID", field: .clientID) {
            _ = try await $0.login(.administrator(clientID: "", clientSecret: "s3cr3t"))
        },
        InputRow(name: "admin login without a secret", field: .clientSecret) {
            _ = try await $0.login(.administrator(clientID: "ci", clientSecret: ""))
        },
        InputRow(name: "refresh without a refresh token", field: .refreshToken) {
            _ = try await $0.refresh(AccessToken(principal: nil, token: "s3cr3t"))
        },
    ]

private let memberRows = ["deviceType", "development", "installationRegistrationID", "userID", "thingID"].map { name in
    InputRow(name: "an installation's own \(name) among its members", field: .fields) {
        let members = JSONValue.object([("payload", "apns"), (name, "s3cr3t")])
        _ = try await $0.session(testToken).createInstallation(members: members)
    }
}

private let installationRows: [InputRow] = [
    InputRow(name: "MQTT with a registration ID", field: .installationRegistrationID) {
        _ = try await $0.session(testToken).createInstallation(registrationID: "r")
    },
    InputRow(name: "Android without a registration ID", field: .installationRegistrationID) {
        _ = try await $0.session(testToken).createInstallation(deviceType: .android)
    },
    InputRow(name: "Android with an empty registration ID", field: .installationRegistrationID) {
        _ = try await $0.session(testToken).createInstallation(deviceType: .android, registrationID: "")
    },
    InputRow(name: "an installation's members that are no object", field: .fields) {
        _ = try await $0.session(testToken).createInstallation(members: ["apns"])
    },
    InputRow(name: "a registration without its ID", field: .installationRegistrationID) {
        _ = try await $0.session(testToken).installation(.registration(.mqtt, ""))
    },
    InputRow(name: "a list of nobody's", field: .userID) {
        _ = try await $0.session(testToken).installations(of: .user("")).all()
    },
    InputRow(name: "a list of nothing's", field: .thingID) {
        _ = try await $0.session(testToken).installations(of: .thing("")).all()
    },
]

private let otherRows: [InputRow] =
    ["", "a b", "a/b", "..", "ä", String(repeating: "x", count: 65)].flatMap { id -> [InputRow] in
        let topic = Topic(id)
        let name = "topic \(id) "
        return [
            InputRow(name: name + "create", field: .topicID) { try await $0.session(testToken).createTopic(topic) },
            InputRow(name: name + "check", field: .topicID) { _ = try await $0.session(testToken).topicExists(topic) },
            InputRow(name: name + "delete", field: .topicID) { try await $0.session(testToken).deleteTopic(topic) },
            InputRow(name: name + "subscribe", field: .topicID) {
                try await $0.session(testToken).subscribe(to: .topic(topic), as: .user("u"))
            },
            InputRow(name: name + "is subscribed", field: .topicID) {
                _ = try await $0.session(testToken).isSubscribed(to: .topic(topic), as: .user("u"))
            },
            InputRow(name: name + "unsubscribe", field: .topicID) {
                try await $0.session(testToken).unsubscribe(from: .topic(topic), as: .user("u"))
            },
            InputRow(name: name + "send", field: .topicID) {
                try await $0.session(testToken).send(PushMessage(data: [:]), to: .topic(topic))
            },
        ]
    }
    + [
        InputRow(name: "object fields that are no object", field: .fields) {
            _ = try await $0.session(testToken).createObject([1], in: Bucket("b"))
        },
        InputRow(name: "replacing fields that are no object", field: .fields) {
            try await $0.session(testToken).putObject("x", as: ObjectReference("o1", in: Bucket("b")))
        },
        InputRow(name: "a command to nothing", field: .thingID) {
            _ = try await $0.session(testToken).command("c1", of: "")
        },
        InputRow(name: "a report without a result", field: .actionResults) {
            try await $0.session(testToken).report([], of: "c1", thing: "th.1")
        },
        InputRow(name: "a report with and without an alias", field: .actionResults) {
            let results = [ThingActionResult("a", succeeded: true), .init("b", alias: "x", succeeded: true)]
            try await $0.session(testToken).report(results, of: "c1", thing: "th.1")
        },
        InputRow(name: "a message for nobody", field: .message) {
            try await $0.session(testToken).send(PushMessage(data: [:], mqtt: nil), to: .user("u"))
        },
        InputRow(name: "no token", field: .token) { try await KiiSession(client: $0).createTopic(Topic("t")) },
        InputRow(name: "nobody's subscription", field: .userID) {
            try await $0.session(testToken).subscribe(to: .topic(Topic("t")))
        },
        InputRow(name: "an empty token", field: .token) { try await $0.session("").createTopic(Topic("t")) },
        InputRow(name: "a token that ends the line", field: .token) {
            try await $0.session("s3cr\r\nX-Evil: 1").createTopic(Topic("t"))
        },
    ]

private let appRows: [InputRow] =
    [
        "", "cloud.test/api", "ftp://cloud.test", "https://", "https:///api", "https://u:s3cr@cloud.test",
        "https://cloud.test/api?x", "https://cloud.test/#x", "https://cloud test/", "https://cloud.test/\r\nX: y",
        "http://cloud.test/api", "http://127.0.0.1.test/api", "https://cloud.test\\@evil.test/",
        "https://cloud.test:99999",
    ].map { url in
        InputRow(name: "base URL \(url)", field: .baseURL, app: KiiApp(appID: "a", appKey: "k", baseURL: url)) {
            _ = try await $0.registerPseudoUser()
        }
    } + [
        InputRow(
            name: "app ID that ends the line", field: .appID,
            app: KiiApp(appID: "a\r\nX: y", appKey: "k", baseURL: "https://h")
        ) { _ = try await $0.registerPseudoUser() },
        InputRow(
            name: "app key that ends the line", field: .appKey,
            app: KiiApp(appID: "a", appKey: "s3cr\r\nX: y", baseURL: "https://h")
        ) { _ = try await $0.registerPseudoUser() },
        InputRow(name: "no app key", field: .appKey, app: KiiApp(appID: "a", appKey: "", baseURL: "https://h")) {
            _ = try await $0.registerPseudoUser()
        },
    ]
