import Testing

/// A payload with its expected kind, the key that decides the kind, and every finding.
struct ExplainedPayload: Sendable, CustomTestStringConvertible {
    var text: String
    var kind: String
    /// Pointer of the deciding key; `nil` if the absence of all such keys decides.
    var key: String?
    /// Code and pointer of each finding, in order.
    var findings: [String]

    init(_ kind: String, by key: String?, _ text: String, _ findings: String...) {
        self.text = text
        self.kind = kind
        self.key = key
        self.findings = findings
    }

    var testDescription: String { self.text }
}

extension ExplainedPayload {
    /// Long keys: MQTT, GCM, FCM.
    static let long: [ExplainedPayload] = [
        .init(
            "pushToApp", by: "/bucketID",
            #"{"type":"DATA_OBJECT_CREATED","origin":"EVENT","when":1500000000001,"modifiedAt":1500000000000,"appID":"app1","sender":"u1","objectScopeAppID":"app1","objectScopeType":"APP_AND_USER","objectScopeUserID":"u1","bucketID":"milk","bucketType":"rw","objectID":"o1","sourceURI":"kiicloud://users/u1/buckets/milk/objects/o1"}"#
        ),
        .init(
            "pushToApp", by: "/bucketID",
            #"{"type":"DATA_OBJECT_DELETED","origin":"EVENT","when":1500000000001,"objectScopeType":"APP","bucketID":"milk","bucketType":"rw","objectID":"o1"}"#
        ),
        .init(
            "pushToApp", by: "/bucketID",
            #"{"type":"BUCKET_DELETED","origin":"EVENT","when":"1500000000001","objectScopeType":"APP_AND_GROUP","objectScopeGroupID":"g1","bucketID":"milk","bucketType":"SYNC"}"#
        ),
        .init("pushToApp", by: "/bucketID", #"{"bucketID":"milk"}"#),
        .init("pushToApp", by: "/bucketID", #"{"bucketID":null}"#),
        .init("pushToApp", by: "/bucketID", #"{"bucketID":"milk","origin":"EXPLICIT"}"#, "kind-ambiguous /bucketID"),
        .init("pushToApp", by: "/bucketID", #"{"bucketID":"milk","topic":"alerts"}"#, "kind-ambiguous /bucketID"),
        .init("pushToApp", by: "/bucketID", #"{"bucketID":7}"#, "field-value /bucketID"),
        .init("pushToApp", by: "/bucketType", #"{"bucketType":"rw","objectID":"o1"}"#),
        .init(
            "pushToApp", by: "/bucketType", #"{"bucketType":"rw","origin":"EVENT","topic":"x"}"#,
            "kind-ambiguous /bucketType"),
        .init("pushToApp", by: "/origin", #"{"origin":"EVENT"}"#, "kind-ambiguous /origin"),
        .init("pushToApp", by: "/origin", #"{"origin":"EVENT","objectID":"o1"}"#),
        .init("pushToApp", by: "/origin", #"{"origin":"\u0045VENT","modifiedAt":1}"#),
        .init(
            "pushToApp", by: "/origin", #"{"origin":"EVENT","topic":"alerts"}"#, "kind-ambiguous /origin"
        ),
        .init(
            "pushToApp", by: "/bucketID", #"{"bucketID":"milk","type":"SPILT"}"#, "field-value /type"
        ),
        .init(
            "pushToUser", by: "/topic",
            #"{"msg":"hi","sender":"u1","senderURI":"kiicloud://users/u1","sourceURI":"kiicloud://users/u1/topics/todo","topic":"todo","objectScopeAppID":"app1","objectScopeType":"APP_AND_USER","objectScopeUserID":"u1"}"#
        ),
        .init(
            "pushToUser", by: "/topic",
            #"{"level":3,"sender":"th.1","topic":"alarm","objectScopeType":"APP_AND_THING","objectScopeThingID":"th.1"}"#
        ),
        .init(
            "pushToUser", by: "/topic",
            #"{"topic":"news","objectScopeType":"APP","type":"NEWS","origin":"EXPLICIT","when":1500000000001}"#
        ),
        .init("pushToUser", by: "/topic", #"{"topic":"alerts","msg":"hi"}"#),
        .init("pushToUser", by: "/topic", #"{"topic":""}"#),
        .init("pushToUser", by: "/topic", #"{"topic":"alerts","origin":"event"}"#, "field-value /origin"),
        .init("pushToUser", by: "/topic", #"{"topic":"alerts","objectID":"o1"}"#, "kind-ambiguous /objectID"),
        .init("pushToUser", by: "/topic", #"{"topic":"alerts","modifiedAt":5}"#, "kind-ambiguous /modifiedAt"),
        .init("pushToUser", by: "/topic", #"{"topic":"a","topic":"b"}"#, "duplicate-key /topic"),
        .init("pushToUser", by: "/topic", #"{"topic":"a","bi":"milk"}"#, "custom-key-collides /bi"),
        .init(
            "directPush", by: nil,
            #"{"msg":"hi","senderURI":"kiicloud://admins/APP_ADMIN","sourceURI":"kiicloud://users/u1"}"#),
        .init("directPush", by: nil, #"{}"#),
        .init("directPush", by: nil, #"{"origin":"EXPLICIT","type":"DATA_OBJECT_CREATED"}"#),
        .init("directPush", by: nil, #"{"objectID":"o1"}"#, "kind-ambiguous /objectID"),
        .init("directPush", by: nil, #"{"when":"soon"}"#, "field-value /when"),
        .init("directPush", by: nil, #"{"objectScopeType":"WORLD"}"#, "field-value /objectScopeType"),
        .init("directPush", by: nil, #"{"senderURI":"mailto:x"}"#, "field-value /senderURI"),
        .init(
            "directPush", by: nil, #"{"to":"todo","st":"APP"}"#, "custom-key-collides /to", "custom-key-collides /st"),
        .init("directPush", by: nil, #"{"list":[1],"tree":{}}"#, "custom-nested /list", "custom-nested /tree"),
        .init("directPush", by: nil, #"{"aps":"x"}"#, "aps-not-object /aps"),
        .init("directPush", by: nil, #"{"aps":[]}"#, "aps-not-object /aps"),
        .init("directPush", by: nil, #"{"commandID":"c1","actions":"none"}"#),
        .init("directPush", by: nil, #"{"a/b~c":1,"a/b~c":2}"#, "duplicate-key /a~1b~0c"),
        .init("directPush", by: nil, #"{"x":""# + String(repeating: "é", count: 2044) + #""}"#),
        .init(
            "directPush", by: nil, #"{"x":""# + String(repeating: "é", count: 2045) + #""}"#, "size-over-4096 "),
    ]

    /// Short keys: APNs.
    static let short: [ExplainedPayload] = [
        .init(
            "pushToApp", by: "/bi",
            #"{"aps":{"content-available":1},"w":"1500000000001","t":"DATA_OBJECT_CREATED","sa":"app1","st":"APP","bi":"milk","bt":"rw","oi":"o1"}"#
        ),
        .init(
            "pushToApp", by: "/bi", #"{"aps":{},"st":"APP_AND_THING","sth":"th.1","bi":"milk"}"#, "aps-empty /aps"),
        .init(
            "pushToApp", by: "/bt", #"{"aps":{"content-available":1},"bt":"rw","om":1,"oi":"o1"}"#,
            "kind-ambiguous /bt"),
        .init(
            "pushToApp", by: "/oi", #"{"aps":{"content-available":1},"oi":"o1","om":1500000000000}"#,
            "kind-ambiguous /oi"),
        .init(
            "pushToApp", by: "/om", #"{"aps":{"content-available":1},"om":"1500000000000","o":"EVENT"}"#,
            "kind-ambiguous /om"),
        .init("pushToApp", by: "/oi", #"{"aps":{"alert":"x"},"oi":"o1","to":"todo"}"#, "kind-ambiguous /oi"),
        .init(
            "pushToUser", by: "/to",
            #"{"aps":{"alert":{"title":"T","subtitle":"S","body":"B"},"badge":1,"sound":"default"},"s":"u1","to":"todo","sa":"app1","st":"APP_AND_USER","su":"u1","msg":"hi"}"#
        ),
        .init(
            "pushToUser", by: "/to",
            #"{"aps":{"alert":"x","category":"C","mutable-content":1},"to":"room","o":"EVENT"}"#,
            "kind-ambiguous /to"),
        .init(
            "pushToUser", by: "/to", #"{"aps":{"alert":"x"},"to":"room","bucketID":"milk"}"#,
            "kind-ambiguous /to", "custom-key-collides /bucketID"),
        .init("directPush", by: nil, #"{"aps":{"alert":{"loc-key":"K","loc-args":["a"]}},"o":"EXPLICIT"}"#),
        .init("directPush", by: nil, #"{"aps":{"alert":"x"},"topic":"t"}"#, "custom-key-collides /topic"),
        .init("directPush", by: nil, #"{"aps":{"badge":0}}"#),
        .init("directPush", by: nil, #"{"aps":{"badge":null}}"#, "aps-empty /aps", "aps-null /aps/badge"),
        .init(
            "directPush", by: nil, #"{"aps":{"alert":"x","sound":{"name":null}}}"#, "aps-null /aps/sound/name"),
        .init(
            "directPush", by: nil, #"{"aps":{"alert":{"loc-key":"K","loc-args":["a",null]}}}"#,
            "aps-null /aps/alert/loc-args/1"),
        .init("directPush", by: nil, #"{"aps":{"content-available":true}}"#, "flag-not-1 /aps/content-available"),
        .init(
            "directPush", by: nil, #"{"aps":{"content-available":0}}"#, "aps-empty /aps",
            "flag-not-1 /aps/content-available"),
        .init(
            "directPush", by: nil, #"{"aps":{"alert":"x"},"content-available":1,"thread-id":"t","badge":1}"#,
            "aps-key-outside /content-available", "aps-key-outside /thread-id", "aps-key-outside /badge"),
        .init(
            "directPush", by: nil, #"{"aps":{"alert":"x"},"contentAvailable":1,"mutable_content":1}"#,
            "aps-key-outside /contentAvailable", "aps-key-outside /mutable_content"),
        // A custom key beside `aps` is valid, also if `aps` has a key of that name or if the name is a common word.
        .init("directPush", by: nil, #"{"aps":{"alert":"x","category":"meal"},"category":"food","event":"start"}"#),
        .init("directPush", by: nil, #"{"badge":1,"alert":"x","sound":"ping"}"#),
        .init("directPush", by: nil, #"{"msg":"x","content-available":1}"#, "aps-key-outside /content-available"),
        .init(
            "directPush", by: nil, #"{"aps":{"title":"T","body":"B"}}"#, "aps-unknown-key /aps/title",
            "aps-unknown-key /aps/body"),
        .init(
            "directPush", by: nil, #"{"aps":{"content-available":1,"alert":"x"}}"#,
            "background-with-alert /aps/content-available"),
        .init(
            "directPush", by: nil, #"{"aps":{"content-available":1,"badge":3,"sound":"ping"}}"#,
            "background-with-alert /aps/content-available"),
        .init(
            "directPush", by: nil, #"{"aps":{"sound":"ping","mutable-content":1}}"#,
            "mutable-content-without-alert /aps/mutable-content"),
        .init("directPush", by: nil, #"{"aps":{"alert":{"title":"T"}}}"#, "alert-without-body /aps/alert"),
        .init("directPush", by: nil, #"{"aps":{"alert":""}}"#, "alert-without-body /aps/alert"),
        .init(
            "directPush", by: nil, #"{"aps":{"alert":{"body":"B","loc-args":["a"]}}}"#,
            "loc-args-without-key /aps/alert/loc-args"),
        .init(
            "directPush", by: nil, #"{"aps":{"alert":{"loc-key":"K","title-loc-key":"T","title-loc-args":["a"]}}}"#,
            "loc-key-without-args /aps/alert/loc-key"),
        .init(
            "directPush", by: nil, #"{"aps":{"alert":{"body":"B","locKey":"K"}}}"#,
            "alert-unknown-key /aps/alert/locKey"),
        .init(
            "directPush", by: nil, #"{"aps":{"alert":"x","content_available":1}}"#,
            "aps-unknown-key /aps/content_available"),
        .init(
            "directPush", by: nil, #"{"aps":{"alert":"x","interruption-level":"loud"}}"#,
            "interruption-level-unknown /aps/interruption-level"),
        .init(
            "directPush", by: nil, #"{"aps":{"alert":"x","interruption-level":"time-sensitive","relevance-score":0.5}}"#
        ),
        .init(
            "directPush", by: nil, #"{"aps":{"alert":"x","interruption-level":1,"relevance-score":"1"}}"#,
            "aps-wrong-type /aps/interruption-level", "aps-wrong-type /aps/relevance-score"),
        .init("directPush", by: nil, #"{"aps":{"sound":{"name":"s","critical":1,"volume":0.5}}}"#),
        .init(
            "directPush", by: nil, #"{"aps":{"sound":{"name":"s","critical":1,"loud":2}}}"#,
            "aps-unknown-key /aps/sound/loud"),
        .init(
            "directPush", by: nil, #"{"aps":{"alert":""# + String(repeating: "x", count: 236) + #""}}"#),
        .init(
            "directPush", by: nil, #"{"aps":{"alert":""# + String(repeating: "x", count: 237) + #""}}"#,
            "size-over-256 "),
        .init(
            "directPush", by: nil, #"{"aps":{"alert":""# + String(repeating: "x", count: 2029) + #""}}"#,
            "size-over-256 ", "size-over-2048 "),
        .init(
            "directPush", by: nil, #"{"aps":{"alert":""# + String(repeating: "x", count: 4077) + #""}}"#,
            "size-over-256 ", "size-over-2048 ", "size-over-4096 "),
    ]

    /// Short keys, with a member that receivers ignore for its wrong type.
    static let odd: [ExplainedPayload] = [
        .init("directPush", by: nil, #"{"aps":{"badge":"1"}}"#, "aps-wrong-type /aps/badge"),
        .init(
            "pushToApp", by: "/bi", #"{"bi":"milk","st":"APP","aps":{"badge":1.5}}"#, "aps-wrong-type /aps/badge"),
        .init(
            "pushToUser", by: "/to", #"{"to":"todo","st":"APP","aps":{"content-available":"1"}}"#,
            "aps-wrong-type /aps/content-available"),
        .init("directPush", by: nil, #"{"aps":{"alert":5}}"#, "aps-wrong-type /aps/alert"),
        .init(
            "directPush", by: nil, #"{"aps":{"alert":{"body":"x","title":5}}}"#, "aps-wrong-type /aps/alert/title"),
        .init(
            "directPush", by: nil, #"{"aps":{"alert":{"loc-key":"K","loc-args":["a",1]}}}"#,
            "aps-wrong-type /aps/alert/loc-args/1"),
        .init("directPush", by: nil, #"{"aps":{"alert":"x","thread-id":7}}"#, "aps-wrong-type /aps/thread-id"),
        .init("directPush", by: nil, #"{"aps":{"alert":"x","category":{}}}"#, "aps-wrong-type /aps/category"),
        .init("directPush", by: nil, #"{"aps":{"sound":true}}"#, "aps-wrong-type /aps/sound"),
        .init("directPush", by: nil, #"{"aps":{"sound":{"name":[]}}}"#, "aps-wrong-type /aps/sound/name"),
        .init("directPush", by: nil, #"{"aps":{"alert":"x"},"s":{"name":"bob"}}"#, "field-value /s"),
        .init(
            "pushToUser", by: "/to", #"{"aps":{"alert":"x"},"to":["bob"]}"#, "field-value /to", "kind-ambiguous /to"),
    ]
}
