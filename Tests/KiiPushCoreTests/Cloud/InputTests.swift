import KiiPushCore
import Testing

/// One row: a call with one bad value, and the field that must be named.
struct InputRow: Sendable, CustomTestStringConvertible {
    var name: String
    var field: KiiInputError.Field
    var app = testApp
    var call: @Sendable (KiiClient) async throws -> Void

    var testDescription: String { self.name }
}

@Suite struct InputTests {
    @Test(arguments: segmentRows + accountRows + installationRows + otherRows + appRows)
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
            try await $0.subscribe(.user(odd), to: .bucket(Bucket(odd, in: .group(odd))), token: testToken)
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
            try await $0.createTopic(Topic("t"), token: testToken)
        }
        #expect(requests.map(\.url) == [url])
    }

    @Test func plainHTTPWithAnotherMachineIsAskedForByName() async throws {
        let app = KiiApp(appID: "a1", appKey: "k", baseURL: "http://cloud.test/api", allowsPlainHTTP: true)
        let (requests, _) = await exchange(.status(204), app: app) {
            try await $0.createTopic(Topic("t"), token: testToken)
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
        #expect(KiiApp(appID: "a", appKey: "k", site: site).baseURL == baseURL)
    }
}

private let segmentRows: [InputRow] = ["", ".", ".."].flatMap { id -> [InputRow] in
    [
        InputRow(name: "user \(id)", field: .userID) {
            try await $0.subscribe(.user(id), to: .topic(Topic("t")), token: testToken)
        },
        InputRow(name: "thing \(id)", field: .thingID) {
            try await $0.subscribe(.thing(id), to: .topic(Topic("t")), token: testToken)
        },
        InputRow(name: "group \(id)", field: .groupID) {
            try await $0.createTopic(Topic("t", in: .group(id)), token: testToken)
        },
        InputRow(name: "bucket \(id)", field: .bucketID) {
            _ = try await $0.createObject([:], in: Bucket(id), token: testToken)
        },
        InputRow(name: "object \(id)", field: .objectID) {
            try await $0.deleteObject(ObjectReference(id, in: Bucket("b")), token: testToken)
        },
        InputRow(name: "object to put \(id)", field: .objectID) {
            try await $0.putObject([:], as: ObjectReference(id, in: Bucket("b")), token: testToken)
        },
        InputRow(name: "object to patch \(id)", field: .objectID) {
            try await $0.patchObject([:], of: ObjectReference(id, in: Bucket("b")), token: testToken)
        },
        InputRow(name: "object to read \(id)", field: .objectID) {
            _ = try await $0.object(ObjectReference(id, in: Bucket("b")), token: testToken)
        },
        InputRow(name: "object with a body \(id)", field: .objectID) {
            try await $0.uploadBody([1], of: ObjectReference(id, in: Bucket("b")), token: testToken)
        },
        InputRow(name: "object with a body to read \(id)", field: .objectID) {
            _ = try await $0.body(of: ObjectReference(id, in: Bucket("b")), token: testToken)
        },
        InputRow(name: "object without a body \(id)", field: .objectID) {
            try await $0.deleteBody(of: ObjectReference(id, in: Bucket("b")), token: testToken)
        },
        InputRow(name: "bucket to delete \(id)", field: .bucketID) {
            try await $0.deleteBucket(Bucket(id), token: testToken)
        },
        InputRow(name: "installation \(id)", field: .installationID) {
            _ = try await $0.mqttEndpoint(of: id, token: testToken)
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
                _ = try await $0.login(vendorThingID: id, password: "s3cr3t")
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
            _ = try await $0.login(username: "", password: "s3cr3t")
        },
        InputRow(name: "login without a password", field: .password) {
            _ = try await $0.login(username: "alice", password: "")
        },
        InputRow(name: "thing login without a password", field: .password) {
            _ = try await $0.login(vendorThingID: "v", password: "")
        },
        InputRow(name: "admin login without an ID", field: .clientID) {
            _ = try await $0.login(clientID: "", clientSecret: "s3cr3t")
        },
        InputRow(name: "admin login without a secret", field: .clientSecret) {
            _ = try await $0.login(clientID: "ci", clientSecret: "")
        },
        InputRow(name: "refresh without a refresh token", field: .refreshToken) {
            _ = try await $0.refresh(AccessToken(principal: nil, token: "s3cr3t"))
        },
    ]

private let installationRows: [InputRow] = [
    InputRow(name: "MQTT with a registration ID", field: .installationRegistrationID) {
        _ = try await $0.createInstallation(registrationID: "r", token: testToken)
    },
    InputRow(name: "Android without a registration ID", field: .installationRegistrationID) {
        _ = try await $0.createInstallation(deviceType: .android, token: testToken)
    },
    InputRow(name: "Android with an empty registration ID", field: .installationRegistrationID) {
        _ = try await $0.createInstallation(deviceType: .android, registrationID: "", token: testToken)
    },
    InputRow(name: "a registration without its ID", field: .installationRegistrationID) {
        _ = try await $0.installation(.registration(.mqtt, ""), token: testToken)
    },
    InputRow(name: "a registration without its type", field: .installationRegistrationID) {
        try await $0.deleteInstallation(.registration(DeviceType(rawValue: ""), "r"), token: testToken)
    },
    InputRow(name: "a list of nobody's", field: .userID) {
        _ = try await $0.installations(of: .user(""), token: testToken).all()
    },
    InputRow(name: "a list of nothing's", field: .thingID) {
        _ = try await $0.installations(of: .thing(""), token: testToken).all()
    },
]

private let otherRows: [InputRow] =
    ["", "a b", "a/b", "..", "ä", String(repeating: "x", count: 65)].flatMap { id -> [InputRow] in
        let topic = Topic(id)
        let name = "topic \(id) "
        return [
            InputRow(name: name + "create", field: .topicID) { try await $0.createTopic(topic, token: testToken) },
            InputRow(name: name + "check", field: .topicID) { _ = try await $0.topicExists(topic, token: testToken) },
            InputRow(name: name + "delete", field: .topicID) { try await $0.deleteTopic(topic, token: testToken) },
            InputRow(name: name + "subscribe", field: .topicID) {
                try await $0.subscribe(.user("u"), to: .topic(topic), token: testToken)
            },
            InputRow(name: name + "subscribe itself", field: .topicID) {
                try await $0.subscribeSelf(as: .user, to: .topic(topic), token: testToken)
            },
            InputRow(name: name + "is subscribed", field: .topicID) {
                _ = try await $0.isSubscribed(.user("u"), to: .topic(topic), token: testToken)
            },
            InputRow(name: name + "unsubscribe", field: .topicID) {
                try await $0.unsubscribe(.user("u"), from: .topic(topic), token: testToken)
            },
            InputRow(name: name + "send", field: .topicID) {
                try await $0.send(PushMessage(data: [:]), to: topic, token: testToken)
            },
        ]
    }
    + [
        InputRow(name: "object fields that are no object", field: .fields) {
            _ = try await $0.createObject([1], in: Bucket("b"), token: testToken)
        },
        InputRow(name: "replacing fields that are no object", field: .fields) {
            try await $0.putObject("x", as: ObjectReference("o1", in: Bucket("b")), token: testToken)
        },
        InputRow(name: "a message for nobody", field: .message) {
            try await $0.send(PushMessage(data: [:], mqtt: nil), toUser: "u", token: testToken)
        },
        InputRow(name: "no token", field: .token) { _ = try await $0.execute(CreateTopic(Topic("t"))) },
        InputRow(name: "an empty token", field: .token) { try await $0.createTopic(Topic("t"), token: "") },
        InputRow(name: "a token that ends the line", field: .token) {
            try await $0.createTopic(Topic("t"), token: "s3cr\r\nX-Evil: 1")
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
