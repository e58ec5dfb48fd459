import Testing

@testable import KiiPushCore

struct GoldenPayload: Sendable, CustomTestStringConvertible {
    var text: String
    var kind: ReceivedMessage.Kind
    var event: EventType?
    var origin: MessageOrigin?
    var when: Int64?
    var modifiedAt: Int64?
    var scope: Scope?
    var bucket: String?
    var bucketType: String?
    var object: String?
    var topic: String?
    var sender: MessageSender?
    var source: KiiURI?
    var custom: [String: JSONValue] = [:]
    var content: NotificationContent?

    var testDescription: String { self.text }
}

extension GoldenPayload {
    private static let notes = Bucket("notes", in: .user("u-1111"))

    static let mqtt: [GoldenPayload] = [
        GoldenPayload(
            text:
                #"{"type":"DATA_OBJECT_CREATED","origin":"EVENT","when":1463364001908,"modifiedAt":1463364001875,"appID":"12345678","sender":"u-1111","objectScopeAppID":"12345678","objectScopeType":"APP_AND_USER","objectScopeUserID":"u-1111","bucketID":"notes","bucketType":"rw","objectID":"obj-1","sourceURI":"kiicloud://users/u-1111/buckets/notes/objects/obj-1"}"#,
            kind: .pushToApp, event: .objectCreated, origin: .event, when: 1_463_364_001_908,
            modifiedAt: 1_463_364_001_875, scope: .user("u-1111"), bucket: "notes", bucketType: "rw",
            object: "obj-1", sender: .user("u-1111"), source: .object(ObjectReference("obj-1", in: notes))),
        GoldenPayload(
            text:
                #"{"type":"DATA_OBJECT_DELETED","origin":"EVENT","when":1463364002000,"appID":"12345678","sender":"th.aaaa","objectScopeAppID":"12345678","objectScopeType":"APP","bucketID":"shared","bucketType":"rw","objectID":"obj-2","sourceURI":"kiicloud://buckets/shared/objects/obj-2"}"#,
            kind: .pushToApp, event: .objectDeleted, origin: .event, when: 1_463_364_002_000, scope: .app,
            bucket: "shared", bucketType: "rw", object: "obj-2", sender: .thing("th.aaaa"),
            source: .object(ObjectReference("obj-2", in: Bucket("shared")))),
        GoldenPayload(
            text:
                #"{"type":"DATA_OBJECT_BODY_UPDATED","origin":"EVENT","when":1463364003000,"modifiedAt":1463364002990,"appID":"12345678","sender":"u-1111","objectScopeAppID":"12345678","objectScopeType":"APP_AND_GROUP","objectScopeGroupID":"grp-9","bucketID":"pics","bucketType":"rw","objectID":"obj-3","sourceURI":"kiicloud://groups/grp-9/buckets/pics/objects/obj-3"}"#,
            kind: .pushToApp, event: .objectBodyUpdated, origin: .event, when: 1_463_364_003_000,
            modifiedAt: 1_463_364_002_990, scope: .group("grp-9"), bucket: "pics", bucketType: "rw",
            object: "obj-3", sender: .user("u-1111"),
            source: .object(ObjectReference("obj-3", in: Bucket("pics", in: .group("grp-9"))))),
        GoldenPayload(
            text:
                #"{"msg":"hi","sender":"u-1111","senderURI":"kiicloud://users/u-1111","sourceURI":"kiicloud://users/u-1111/topics/todo","topic":"todo","objectScopeAppID":"12345678","objectScopeType":"APP_AND_USER","objectScopeUserID":"u-1111"}"#,
            kind: .pushToUser, scope: .user("u-1111"), topic: "todo", sender: .user("u-1111"),
            source: .topic(Topic("todo", in: .user("u-1111"))), custom: ["msg": "hi"]),
        GoldenPayload(
            text:
                #"{"msg":"all","senderURI":"kiicloud://admins/APP_ADMIN","sourceURI":"kiicloud://topics/SendingAlert","topic":"SendingAlert","objectScopeAppID":"12345678","objectScopeType":"APP","when":1463363865798,"origin":"EXPLICIT","appID":"12345678","type":"NEWS"}"#,
            kind: .pushToUser, event: .other("NEWS"), origin: .explicit, when: 1_463_363_865_798, scope: .app,
            topic: "SendingAlert", sender: .admin, source: .topic(Topic("SendingAlert")), custom: ["msg": "all"]),
        GoldenPayload(
            text:
                #"{"level":3,"sender":"th.aaaa","senderURI":"kiicloud://things/th.aaaa","sourceURI":"kiicloud://things/th.aaaa/topics/alarm","topic":"alarm","objectScopeAppID":"12345678","objectScopeType":"APP_AND_THING","objectScopeThingID":"th.aaaa"}"#,
            kind: .pushToUser, scope: .thing("th.aaaa"), topic: "alarm", sender: .thing("th.aaaa"),
            source: .topic(Topic("alarm", in: .thing("th.aaaa"))), custom: ["level": 3]),
        GoldenPayload(
            text:
                #"{"mymessage":"Hello","senderURI":"kiicloud://admins/APP_ADMIN","sourceURI":"kiicloud://users/u-1111"}"#,
            kind: .directPush, sender: .admin, source: .owner(.user("u-1111")), custom: ["mymessage": "Hello"]),
        GoldenPayload(
            text:
                #"{"a_key":"v","n":1,"senderURI":"kiicloud://admins/APP_ADMIN","sourceURI":"kiicloud://users/u-1111","when":1463363870000}"#,
            kind: .directPush, when: 1_463_363_870_000, sender: .admin, source: .owner(.user("u-1111")),
            custom: ["a_key": "v", "n": 1]),
        GoldenPayload(
            text:
                #"{"x":true,"senderURI":"kiicloud://admins/APP_ADMIN","sourceURI":"kiicloud://users/u-1111","origin":"EXPLICIT","type":"MAINT"}"#,
            kind: .directPush, event: .other("MAINT"), origin: .explicit, sender: .admin,
            source: .owner(.user("u-1111")), custom: ["x": true]),
    ]

    static let gcm: [GoldenPayload] = [
        GoldenPayload(
            text:
                #"{"type":"DATA_OBJECT_UPDATED","origin":"EVENT","when":"1463364001908","modifiedAt":"1463364001875","appID":"12345678","sender":"u-1111","objectScopeAppID":"12345678","objectScopeType":"APP","bucketID":"notes","bucketType":"rw","objectID":"obj-1"}"#,
            kind: .pushToApp, event: .objectUpdated, origin: .event, when: 1_463_364_001_908,
            modifiedAt: 1_463_364_001_875, scope: .app, bucket: "notes", bucketType: "rw", object: "obj-1",
            sender: .user("u-1111")),
        GoldenPayload(
            text:
                #"{"type":"DATA_OBJECT_ACL_MODIFIED","origin":"EVENT","when":"1463364001908","appID":"12345678","objectScopeAppID":"12345678","objectScopeType":"APP_AND_USER","objectScopeUserID":"u-1111","bucketID":"notes","bucketType":"sync","objectID":"obj-1"}"#,
            kind: .pushToApp, event: .objectACLModified, origin: .event, when: 1_463_364_001_908,
            scope: .user("u-1111"), bucket: "notes", bucketType: "sync", object: "obj-1"),
        GoldenPayload(
            text:
                #"{"type":"BUCKET_DELETED","origin":"EVENT","when":"1463364001908","appID":"12345678","objectScopeAppID":"12345678","objectScopeType":"APP","bucketID":"notes","bucketType":"rw"}"#,
            kind: .pushToApp, event: .bucketDeleted, origin: .event, when: 1_463_364_001_908, scope: .app,
            bucket: "notes", bucketType: "rw"),
        GoldenPayload(
            text:
                #"{"msg":"hi","sender":"u-1111","topic":"todo","objectScopeAppID":"12345678","objectScopeType":"APP_AND_USER","objectScopeUserID":"u-1111"}"#,
            kind: .pushToUser, scope: .user("u-1111"), topic: "todo", sender: .user("u-1111"), custom: ["msg": "hi"]),
        GoldenPayload(
            text:
                #"{"msg":"team","sender":"u-1111","topic":"room","objectScopeAppID":"12345678","objectScopeType":"APP_AND_GROUP","objectScopeGroupID":"grp-9","when":"1463363865798"}"#,
            kind: .pushToUser, when: 1_463_363_865_798, scope: .group("grp-9"), topic: "room",
            sender: .user("u-1111"), custom: ["msg": "team"]),
        GoldenPayload(
            text:
                #"{"msg":"n","topic":"SendingAlert","objectScopeAppID":"12345678","objectScopeType":"APP","type":"NEWS"}"#,
            kind: .pushToUser, event: .other("NEWS"), scope: .app, topic: "SendingAlert", custom: ["msg": "n"]),
        GoldenPayload(text: #"{"mymessage":"Hello"}"#, kind: .directPush, custom: ["mymessage": "Hello"]),
        GoldenPayload(
            text: #"{"mymessage":"Hello","sender":"u-1111"}"#, kind: .directPush, sender: .user("u-1111"),
            custom: ["mymessage": "Hello"]),
        GoldenPayload(
            text: #"{"mymessage":"Hello","when":"1463363870000","origin":"EXPLICIT"}"#, kind: .directPush,
            origin: .explicit, when: 1_463_363_870_000, custom: ["mymessage": "Hello"]),
    ]

    static let apns: [GoldenPayload] = [
        GoldenPayload(
            text:
                #"{"aps":{"content-available":1},"w":"1463364001908","t":"DATA_OBJECT_CREATED","sa":"12345678","st":"APP","bi":"notes","bt":"rw","oi":"obj-1"}"#,
            kind: .pushToApp, event: .objectCreated, when: 1_463_364_001_908, scope: .app, bucket: "notes",
            bucketType: "rw", object: "obj-1", content: NotificationContent(isContentAvailable: true)),
        GoldenPayload(
            text:
                #"{"aps":{"content-available":1},"w":1463364001908,"t":"DATA_OBJECT_UPDATED","sa":"12345678","st":"APP_AND_USER","su":"u-1111","bi":"notes","bt":"sync","oi":"obj-1","om":1463364001875}"#,
            kind: .pushToApp, event: .objectUpdated, when: 1_463_364_001_908, modifiedAt: 1_463_364_001_875,
            scope: .user("u-1111"), bucket: "notes", bucketType: "sync", object: "obj-1",
            content: NotificationContent(isContentAvailable: true)),
        GoldenPayload(
            text:
                #"{"aps":{},"w":"1463364001908","t":"DATA_OBJECT_BODY_DELETED","sa":"12345678","st":"APP_AND_THING","sth":"th.aaaa","bi":"pics","bt":"rw","oi":"obj-3"}"#,
            kind: .pushToApp, event: .objectBodyDeleted, when: 1_463_364_001_908, scope: .thing("th.aaaa"),
            bucket: "pics", bucketType: "rw", object: "obj-3", content: NotificationContent()),
        GoldenPayload(
            text:
                #"{"aps":{"alert":{"title":"T","subtitle":"S","body":"B"},"badge":1,"sound":"default"},"s":"u-1111","to":"todo","sa":"12345678","st":"APP_AND_USER","su":"u-1111","msg":"hi"}"#,
            kind: .pushToUser, scope: .user("u-1111"), topic: "todo", sender: .user("u-1111"), custom: ["msg": "hi"],
            content: NotificationContent(
                alert: NotificationAlert(title: "T", subtitle: "S", body: "B"), badge: .set(1), sound: "default")),
        GoldenPayload(
            text:
                #"{"aps":{"alert":"plain","category":"INVITE_CATEGORY","mutable-content":1},"s":"u-1111","to":"room","sa":"12345678","st":"APP_AND_GROUP","sg":"grp-9","o":"EXPLICIT"}"#,
            kind: .pushToUser, origin: .explicit, scope: .group("grp-9"), topic: "room", sender: .user("u-1111"),
            content: NotificationContent(
                alert: NotificationAlert(body: "plain"), category: "INVITE_CATEGORY")),
        GoldenPayload(
            text:
                #"{"aps":{"content-available":1},"to":"SendingAlert","sa":"12345678","st":"APP","a":"12345678","w":"1463363865798","t":"NEWS"}"#,
            kind: .pushToUser, event: .other("NEWS"), when: 1_463_363_865_798, scope: .app, topic: "SendingAlert",
            content: NotificationContent(isContentAvailable: true)),
        GoldenPayload(
            text: #"{"aps":{"alert":{"body":"Hello"}},"MyKey1":"v1"}"#, kind: .directPush, custom: ["MyKey1": "v1"],
            content: NotificationContent(alert: NotificationAlert(body: "Hello"))),
        GoldenPayload(
            text: #"{"aps":{"content-available":1},"s":"u-1111","MyKey1":"v1","MyKey2":2}"#, kind: .directPush,
            sender: .user("u-1111"), custom: ["MyKey1": "v1", "MyKey2": 2],
            content: NotificationContent(isContentAvailable: true)),
        GoldenPayload(
            text: #"{"aps":{"alert":{"loc-key":"K","loc-args":["a"]}},"o":"EXPLICIT","w":"1463363870000"}"#,
            kind: .directPush, origin: .explicit, when: 1_463_363_870_000,
            content: NotificationContent(alert: NotificationAlert(localizationKey: "K", localizationArguments: ["a"]))
        ),
    ]
}
