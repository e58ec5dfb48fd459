import KiiPushCore
import Testing

@Suite struct ReceivedMessageTests {
    @Test(arguments: GoldenPayload.mqtt + GoldenPayload.gcm)
    func readsEverythingFromLongKeys(_ golden: GoldenPayload) throws {
        let message = try ReceivedMessage(payload: Array(golden.text.utf8))
        #expect(message.keyFamily == .long)
        expect(message, golden)
        expect(try ReceivedMessage(mqttPayload: Array(golden.text.utf8)), golden)
    }

    @Test(arguments: GoldenPayload.apns)
    func readsEverythingFromShortKeys(_ golden: GoldenPayload) throws {
        let message = try ReceivedMessage(payload: Array(golden.text.utf8))
        #expect(message.keyFamily == .short)
        expect(message, golden)
        expect(try ReceivedMessage(fromAPNS: Array(golden.text.utf8)), golden)
    }

    /// Rule 1: an object under `aps` means short keys. Any other value under `aps` is a custom key.
    @Test(arguments: [
        (#"{"aps":{},"bi":"b"}"#, ReceivedMessage.Kind.pushToApp), (#"{"aps":{},"bucketID":"b"}"#, .directPush),
        (#"{"aps":"x","bi":"b"}"#, .directPush), (#"{"aps":[],"bucketID":"b"}"#, .pushToApp),
        (#"{"aps":null,"topic":"t"}"#, .pushToUser), (#"{"bi":"b"}"#, .directPush),
        (#"{"\u0061ps":{},"\u0062i":"b"}"#, .pushToApp),
    ])
    func choosesTheKeysByAps(text: String, kind: ReceivedMessage.Kind) throws {
        #expect(try ReceivedMessage(payload: Array(text.utf8)).kind == kind)
    }

    /// Rule 2: short keys. Their presence counts, whatever their value. Sender and type do not count.
    @Test(arguments: [
        (#"{"aps":{},"bi":"b"}"#, ReceivedMessage.Kind.pushToApp), (#"{"aps":{},"bt":""}"#, .pushToApp),
        (#"{"aps":{},"oi":null}"#, .pushToApp), (#"{"aps":{},"om":1}"#, .pushToApp),
        (#"{"aps":{},"to":"t","om":1}"#, .pushToApp), (#"{"aps":{},"to":"t"}"#, .pushToUser),
        (#"{"aps":{},"to":""}"#, .pushToUser), (#"{"aps":{},"o":"EVENT"}"#, .directPush),
        (#"{"aps":{},"s":"u","t":"DATA_OBJECT_CREATED"}"#, .directPush), (#"{"aps":{}}"#, .directPush),
        (#"{"aps":{},"sa":"a","st":"APP"}"#, .directPush),
    ])
    func tellsTheKindByShortKeys(text: String, kind: ReceivedMessage.Kind) throws {
        #expect(try ReceivedMessage(payload: Array(text.utf8)).kind == kind)
        #expect(try ReceivedMessage(fromAPNS: Array(text.utf8)).kind == kind)
    }

    /// Rule 3: long keys. `objectID` and `modifiedAt` do not count; `origin` counts only as EVENT.
    @Test(arguments: [
        (#"{"origin":"EVENT"}"#, ReceivedMessage.Kind.pushToApp), (#"{"bucketID":"b"}"#, .pushToApp),
        (#"{"bucketType":null}"#, .pushToApp), (#"{"bucketID":"","topic":"t"}"#, .pushToApp),
        (#"{"origin":"EVENT","topic":"t"}"#, .pushToApp), (#"{"origin":"EXPLICIT","topic":"t"}"#, .pushToUser),
        (#"{"topic":""}"#, .pushToUser), (#"{"topic":null}"#, .pushToUser), (#"{"objectID":"o"}"#, .directPush),
        (#"{"modifiedAt":1}"#, .directPush), (#"{"origin":"event"}"#, .directPush), (#"{}"#, .directPush),
        (#"{"sender":"u","type":"DATA_OBJECT_CREATED"}"#, .directPush),
        (#"{"origin":"\u0045VENT"}"#, .pushToApp),
    ])
    func tellsTheKindByLongKeys(text: String, kind: ReceivedMessage.Kind) throws {
        #expect(try ReceivedMessage(payload: Array(text.utf8)).kind == kind)
        #expect(try ReceivedMessage(mqttPayload: Array(text.utf8)).kind == kind)
    }

    /// The table of keys: every field under both keys, as text.
    @Test(arguments: [
        (MessageField.appID, 0, "appID", "a"), (.sender, 1, "sender", "s"), (.type, 2, "type", "t"),
        (.when, 3, "when", "w"), (.origin, 4, "origin", "o"), (.topic, 5, "topic", "to"),
        (.scopeAppID, 6, "objectScopeAppID", "sa"), (.scopeUserID, 7, "objectScopeUserID", "su"),
        (.scopeGroupID, 8, "objectScopeGroupID", "sg"), (.scopeType, 9, "objectScopeType", "st"),
        (.bucketID, 10, "bucketID", "bi"), (.bucketType, 11, "bucketType", "bt"), (.objectID, 12, "objectID", "oi"),
        (.objectModifiedAt, 13, "modifiedAt", "om"), (.scopeThingID, 14, "objectScopeThingID", "sth"),
    ])
    func everyFieldHasItsKeys(field: MessageField, rawValue: Int, long: String, short: String) throws {
        #expect(field.rawValue == rawValue)
        #expect(field.key(in: .long) == long)
        #expect(field.key(in: .short) == short)
        for (value, text) in [(#""x""#, "x"), ("12.50", "12.50"), ("true", "true"), (#""""#, "")] {
            let mqtt = try ReceivedMessage(mqttPayload: Array(#"{"\#(long)":\#(value),"\#(short)":0}"#.utf8))
            #expect(mqtt.value(of: field) == text)
            let apns = try ReceivedMessage(fromAPNS: Array(#"{"\#(long)":0,"\#(short)":\#(value)}"#.utf8))
            #expect(apns.value(of: field) == text)
            for other in MessageField.allCases where other != field {
                #expect(mqtt.value(of: other) == nil)
                #expect(apns.value(of: other) == nil)
            }
        }
        let null = try ReceivedMessage(mqttPayload: Array(#"{"\#(long)":null}"#.utf8))
        #expect(null.value(of: field) == nil)
    }

    @Test(
        arguments: [
            ("1463364001908", 1_463_364_001_908), (#""1463364001908""#, 1_463_364_001_908),
            ("1.463364001908e12", 1_463_364_001_908),
            ("0", 0), ("-1", -1), ("9223372036854775807", .max), ("9223372036854775808", nil), ("1.5", nil),
            (#""soon""#, nil), (#""""#, nil), ("true", nil), ("null", nil),
        ] as [(String, Int64?)])
    func readsTimesAsNumbersOrStrings(value: String, milliseconds: Int64?) throws {
        let mqtt = try ReceivedMessage(payload: Array(#"{"when":\#(value),"modifiedAt":\#(value)}"#.utf8))
        #expect(mqtt.when?.millisecondsSinceEpoch == milliseconds)
        #expect(mqtt.modifiedAt?.millisecondsSinceEpoch == milliseconds)
        let apns = try ReceivedMessage(payload: Array(#"{"aps":{},"w":\#(value),"om":\#(value)}"#.utf8))
        #expect(apns.when?.millisecondsSinceEpoch == milliseconds)
        #expect(apns.modifiedAt?.millisecondsSinceEpoch == milliseconds)
    }

    @Test func keepsUnknownNames() throws {
        let text =
            #"{"type":"DATA_X","origin":"FUTURE","bucketType":"crypt","bucketID":"b","objectScopeType":"APP_AND_X"}"#
        let message = try ReceivedMessage(payload: Array(text.utf8))
        #expect(message.eventType == .other("DATA_X"))
        #expect(message.origin == .other("FUTURE"))
        #expect(message.scope == nil)
        #expect(message.sourceBucket == nil)
    }

    @Test func keepsThePayloadAsItWasReceived() throws {
        let text = #" {"n":12345678901234567890, "a" : [1.0],"x":{"y":null}} "#
        let message = try ReceivedMessage(payload: Array(text.utf8))
        #expect(message.payloadBytes == Array(text.utf8.dropFirst().dropLast()))
        #expect(message["n"]?.number?.text == "12345678901234567890")
        #expect(message["x"]?["y"]?.isNull == true)
        #expect(message["missing"] == nil)
        #expect(message.rawPayload == (try JSONValue(parsing: text)))
    }

    @Test func decodesCustomKeysAsATypeOfTheProgramsOwn() throws {
        struct Alarm: Decodable, Equatable { var level: Int, tags: [String], topic: String }
        let text = #"{"level":3,"tags":["a"],"topic":"alarm","objectScopeType":"APP"}"#
        let message = try ReceivedMessage(payload: Array(text.utf8))
        #expect(try message.decode(Alarm.self) == Alarm(level: 3, tags: ["a"], topic: "alarm"))
        #expect(message.customMembers.map(\.key) == ["level", "tags"])
    }

    @Test func keysOfTheOtherFamilyAreCustom() throws {
        let mqtt = try ReceivedMessage(payload: Array(#"{"s":"x","bi":1,"aps":5,"commandID":"c"}"#.utf8))
        #expect(mqtt.customMembers.map(\.key) == ["s", "bi", "aps", "commandID"])
        let apns = try ReceivedMessage(payload: Array(#"{"aps":{},"sender":"x","senderURI":"y","s":"u"}"#.utf8))
        #expect(apns.customMembers.map(\.key) == ["sender", "senderURI"])
        #expect(apns.senderURI == nil)
        #expect(apns.sender == .user("u"))
    }

    @Test func theLastOfTwoEqualKeysCounts() throws {
        let message = try ReceivedMessage(payload: Array(#"{"topic":[1],"topic":"a","topic":"b"}"#.utf8))
        #expect(message.value(of: .topic) == "b")
    }

    @Test func messagesOfOneMeaningAreEqual() throws {
        let left = try ReceivedMessage(payload: Array(#"{"topic":"t","n":1}"#.utf8))
        let right = try ReceivedMessage(payload: Array(#"{"n":1.0,"topic":"t"}"#.utf8))
        #expect(left == right)
        #expect(left.hashValue == right.hashValue)
        #expect(left != (try ReceivedMessage(payload: Array(#"{"topic":"t","n":2}"#.utf8))))
        #expect(left != (try ReceivedMessage(fromAPNS: Array(#"{"topic":"t","n":1}"#.utf8))))
    }

    @Test func typesAreComparedByScalars() {
        let (one, two) = (EventType("caf\u{e9}"), EventType("cafe\u{301}"))
        #expect(one != two)
        #expect(Set([one, two, EventType("caf\u{e9}"), EventType("BUCKET_DELETED"), .bucketDeleted]).count == 3)
    }

    @Test func anEmptyNameIsNone() throws {
        for text in [
            #"{"type":"","origin":"","bucketType":"","objectScopeType":"","appID":"","sender":"","sourceURI":""}"#,
            #"{"aps":{},"t":"","o":"","bt":"","st":"","a":"","s":""}"#,
        ] {
            let message = try ReceivedMessage(payload: Array(text.utf8))
            #expect(message.eventType == nil)
            #expect(message.origin == nil)
            #expect(message.scope == nil)
            #expect(message.appID == nil)
            #expect(message.sender == nil)
            #expect(message.sourceURI == nil)
            #expect(message.value(of: .type) == "")
        }
    }

    /// Kii refuses nested data, so a nested value comes from the sender.
    @Test(arguments: MessageField.allCases)
    func aNestedValueUnderAKeyOfKiisLeavesTheFieldOut(_ field: MessageField) throws {
        for value in [JSONValue(arrayLiteral: 1), ["x": 1]] {
            for family in [KeyFamily.long, .short] {
                let payload = JSONValue(members: [JSONMember(key: field.key(in: family), value: value)])
                let message =
                    switch family {
                    case .long: try ReceivedMessage(mqttPayload: payload.documentBytes)
                    case .short: try ReceivedMessage(fromAPNS: payload.documentBytes)
                    }
                #expect(message.value(of: field) == nil)
                #expect(message[field.key(in: family)] == value)
                #expect(message.findings.map(\.pointer.tokens) == [[field.key(in: family)]])
                #expect(message.findings.map(\.found) == [value.kind])
            }
        }
    }

    @Test(arguments: ["true", "1.5", #""tomorrow""#, #""""#, "[1]"])
    func aTimeThatIsNoWholeNumberIsLeftOut(_ value: String) throws {
        for text in [#"{"when":\#(value),"modifiedAt":\#(value)}"#, #"{"aps":{},"w":\#(value),"om":\#(value)}"#] {
            let message = try ReceivedMessage(payload: Array(text.utf8))
            #expect(message.when == nil)
            #expect(message.modifiedAt == nil)
            let keys = ["when", "w", "modifiedAt", "om"].filter { message[$0] != nil }
            #expect(message.findings.map(\.pointer.tokens) == keys.map { [$0] })
            #expect(message.findings.map(\.expected) == ["a whole number", "a whole number"])
        }
    }

    @Test func aTimeMayBeATextOrNull() throws {
        let text = #"{"when":"1463363865798","modifiedAt":null}"#
        let message = try ReceivedMessage(payload: Array(text.utf8))
        #expect(message.when == Timestamp(millisecondsSinceEpoch: 1_463_363_865_798))
        #expect(message.findings == [])
    }

    @Test func itsDescriptionHoldsNoContent() throws {
        let message = try ReceivedMessage(payload: Array(#"{"mymessage":"hunter2"}"#.utf8))
        #expect("\(message)" == "directPush message of 23 bytes")
        #expect(!String(reflecting: message).contains("hunter2"))
    }
}

private func expect(
    _ message: ReceivedMessage,
    _ golden: GoldenPayload,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(message.kind == golden.kind, sourceLocation: sourceLocation)
    #expect(message.eventType == golden.event, sourceLocation: sourceLocation)
    #expect(message.origin == golden.origin, sourceLocation: sourceLocation)
    #expect(message.when?.millisecondsSinceEpoch == golden.when, sourceLocation: sourceLocation)
    #expect(message.modifiedAt?.millisecondsSinceEpoch == golden.modifiedAt, sourceLocation: sourceLocation)
    #expect(message.scope == golden.scope, sourceLocation: sourceLocation)
    #expect(message.sourceBucket?.id == golden.bucket, sourceLocation: sourceLocation)
    #expect(message.value(of: .bucketType) == golden.bucketType, sourceLocation: sourceLocation)
    #expect(message.sourceObject?.id == golden.object, sourceLocation: sourceLocation)
    #expect(message.sourceTopic?.id == golden.topic, sourceLocation: sourceLocation)
    #expect(message.sender == golden.sender, sourceLocation: sourceLocation)
    #expect(message.sourceURI == golden.source, sourceLocation: sourceLocation)
    #expect(message.content == golden.content, sourceLocation: sourceLocation)
    #expect(message.alertBody == golden.content?.alert?.body, sourceLocation: sourceLocation)
    let custom = Dictionary(uniqueKeysWithValues: message.customMembers.map { ($0.key, $0.value) })
    #expect(custom == golden.custom, sourceLocation: sourceLocation)
    #expect(message.payloadBytes == Array(golden.text.utf8), sourceLocation: sourceLocation)
}
