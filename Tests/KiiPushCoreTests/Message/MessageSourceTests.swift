import KiiPushCore
import Testing

@Suite struct MessageSourceTests {
    /// Each row of the table of object resolution is tested with long and with short keys.
    @Test(arguments: [
        Row([.bucketID: "b", .objectID: "o"]),
        Row([.bucketID: "b", .objectID: "o", .scopeType: ""]),
        Row([.bucketID: "b", .scopeType: "APP"], scope: .app, bucket: "b"),
        Row([.bucketID: "b", .objectID: "o", .scopeType: "APP"], scope: .app, bucket: "b", object: "o"),
        Row([.bucketID: "b", .objectID: "", .scopeType: "APP"], scope: .app, bucket: "b"),
        Row([.bucketID: "b", .objectID: "o", .scopeType: "APP_AND_GROUP"]),
        Row(
            [.bucketID: "b", .objectID: "o", .scopeType: "APP_AND_GROUP", .scopeGroupID: "g"], scope: .group("g"),
            bucket: "b", object: "o"),
        Row([.bucketID: "b", .objectID: "o", .scopeType: "APP_AND_USER"]),
        Row([.bucketID: "b", .objectID: "o", .scopeType: "APP_AND_USER", .scopeGroupID: "g"]),
        Row(
            [.bucketID: "b", .objectID: "o", .scopeType: "APP_AND_USER", .scopeUserID: "u"], scope: .user("u"),
            bucket: "b", object: "o"),
        Row([.bucketID: "b", .objectID: "o", .scopeType: "APP_AND_THING"]),
        Row(
            [.bucketID: "b", .objectID: "o", .scopeType: "APP_AND_THING", .scopeThingID: "th.1"],
            scope: .thing("th.1"), bucket: "b", object: "o"),
        Row([.bucketType: "rw", .objectID: "o", .scopeType: "APP"], scope: .app),
        Row([.bucketID: "", .objectID: "o", .scopeType: "APP"], scope: .app),
        Row([.bucketID: "b", .objectID: "o", .scopeType: "APP_AND_MOON"]),
        Row([.topic: "t"]),
        Row([.topic: "t", .scopeType: "APP"], scope: .app, topic: "t"),
        Row([.topic: "", .scopeType: "APP"], scope: .app),
        Row([.topic: "t", .scopeType: "APP_AND_USER"]),
        Row([.topic: "t", .scopeType: "APP_AND_USER", .scopeUserID: "u"], scope: .user("u"), topic: "t"),
        Row(
            [.topic: "t", .scopeType: "APP_AND_GROUP", .scopeGroupID: "g"], scope: .group("g"), topic: "t"),
        Row([.scopeType: "APP", .scopeUserID: "u"], scope: .app),
    ])
    func resolvesAsTheTableSays(_ row: Row) throws {
        for family in [KeyFamily.long, .short] {
            let message = try row.message(family)
            #expect(message.scope == row.scope)
            #expect(message.sourceBucket == row.bucket.flatMap { id in row.scope.map { Bucket(id, in: $0) } })
            #expect(message.sourceObject?.id == row.object)
            #expect(message.sourceTopic == row.topic.flatMap { id in row.scope.map { Topic(id, in: $0) } })
        }
    }

    @Test(
        arguments: [
            (#"{"sender":"u-1"}"#, MessageSender.user("u-1")), (#"{"sender":"th.1"}"#, .thing("th.1")),
            (#"{"sender":"th-1"}"#, .user("th-1")), (#"{"sender":""}"#, nil), (#"{"sender":null}"#, nil), ("{}", nil),
            (#"{"senderURI":"kiicloud://users/u%2F1"}"#, .user("u/1")),
            (#"{"senderURI":"kiicloud://things/t-without-prefix","sender":"x"}"#, .thing("t-without-prefix")),
            (#"{"senderURI":"kiicloud://users/th.odd","sender":"th.odd"}"#, .user("th.odd")),
            (#"{"senderURI":"kiicloud://admins/APP_ADMIN","sender":"u-1"}"#, .admin),
            (#"{"senderURI":"kiicloud://admins/OTHER"}"#, .other("kiicloud://admins/OTHER")),
            (#"{"senderURI":"kiicloud://robots/1","sender":"u-1"}"#, .user("u-1")),
            (#"{"senderURI":"kiicloud://robots/1"}"#, .other("kiicloud://robots/1")),
            (#"{"senderURI":"","sender":"u-1"}"#, .user("u-1")),
            (#"{"aps":{},"s":"th.1"}"#, .thing("th.1")), (#"{"aps":{},"s":"u-1","sender":"x"}"#, .user("u-1")),
        ] as [(String, MessageSender?)])
    func tellsTheSender(text: String, sender: MessageSender?) throws {
        let message = try ReceivedMessage(payload: Array(text.utf8))
        #expect(message.sender == sender)
    }

    @Test func anAddressOfAFormThatIsUnknownIsKept() throws {
        let message = try ReceivedMessage(
            payload: Array(#"{"senderURI":"kiicloud://robots/1","sourceURI":"kiicloud://moons/2"}"#.utf8))
        #expect(message.senderURI?.description == "kiicloud://robots/1")
        #expect(message.sourceURI?.description == "kiicloud://moons/2")
        #expect(message.sender == .other("kiicloud://robots/1"))
    }

    @Test func messagesOfOneSourceShareAKey() throws {
        let sources = [
            [
                #"{"topic":"t","objectScopeType":"APP","n":1}"#, #"{"n":2,"objectScopeType":"APP","topic":"t"}"#,
                #"{"topic":"\u0074","objectScopeType":"APP","sender":"u"}"#,
                #"{"aps":{},"to":"t","st":"APP","s":"x"}"#,
            ],
            [#"{"topic":"t","objectScopeType":"APP_AND_USER","objectScopeUserID":"u"}"#],
            [#"{"topic":"t","objectScopeType":"APP_AND_GROUP","objectScopeGroupID":"u"}"#],
            [#"{"topic":"tt","objectScopeType":"APP"}"#],
            [
                #"{"bucketID":"t","objectScopeType":"APP","objectID":"1"}"#,
                #"{"bucketID":"t","objectScopeType":"APP"}"#,
            ],
            [#"{"bucketID":"a-bucket-with-a-long-name","objectScopeType":"APP"}"#],
            [#"{"bucketID":"a-bucket-with-a-long-namf","objectScopeType":"APP"}"#],
            [#"{"sender":"u-1","x":1}"#, #"{"sender":"u-1","x":2}"#, #"{"senderURI":"kiicloud://users/u-1"}"#],
            [#"{"sender":"u-2"}"#], [#"{"senderURI":"kiicloud://admins/APP_ADMIN"}"#], ["{}", #"{"x":1}"#],
        ]
        var keys: Set<SourceKey> = []
        for texts in sources {
            let ofSource = try Set(texts.map { try ReceivedMessage(payload: Array($0.utf8)).sourceKey })
            #expect(ofSource.count == 1)
            keys.formUnion(ofSource)
        }
        #expect(keys.count == sources.count)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var fields: [MessageField: String]
        var scope: Scope?
        var bucket: String?
        var object: String?
        var topic: String?

        init(
            _ fields: [MessageField: String], scope: Scope? = nil, bucket: String? = nil, object: String? = nil,
            topic: String? = nil
        ) {
            self.fields = fields
            self.scope = scope
            self.bucket = bucket
            self.object = object
            self.topic = topic
        }

        func message(_ family: KeyFamily) throws -> ReceivedMessage {
            let payload = JSONValue(
                members: self.fields.map { JSONMember(key: $0.key.key(in: family), value: JSONValue($0.value)) })
            switch family {
            case .long: return try ReceivedMessage(mqttPayload: payload.documentBytes)
            case .short: return try ReceivedMessage(fromAPNS: payload.documentBytes)
            }
        }

        var testDescription: String {
            self.fields.map { "\($0.key)=\($0.value)" }.sorted().joined(separator: " ")
        }
    }
}
