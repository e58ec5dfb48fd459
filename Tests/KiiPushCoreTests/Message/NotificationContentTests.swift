import Testing

@testable import KiiPushCore

@Suite struct NotificationContentTests {
    @Test(arguments: [
        ("{}", NotificationContent()),
        (#"{"alert":"text"}"#, NotificationContent(alert: NotificationAlert(body: "text"))),
        (#"{"alert":{}}"#, NotificationContent(alert: NotificationAlert())),
        (
            #"{"alert":{"title":"t","subtitle":"s","body":"b","loc-key":"k","loc-args":["1","2"],"action-loc-key":"a","launch-image":"i","show-view":false,"more":[1]}}"#,
            NotificationContent(
                alert: NotificationAlert(
                    title: "t", subtitle: "s", body: "b", localizationKey: "k", localizationArguments: ["1", "2"],
                    actionLocalizationKey: "a", showsViewButton: false))
        ),
        (#"{"alert":{"show-view":true}}"#, NotificationContent(alert: NotificationAlert(showsViewButton: true))),
        (#"{"alert":null,"badge":null,"sound":null,"thread-id":null}"#, NotificationContent()),
        (#"{"badge":0}"#, NotificationContent(badge: .set(0))), (#"{"badge":5}"#, NotificationContent(badge: .set(5))),
        (#"{"badge":-1}"#, NotificationContent(badge: .set(-1))),
        (#"{"badge":2.0}"#, NotificationContent(badge: .set(2))),
        (#"{"sound":"default"}"#, NotificationContent(sound: "default")),
        (
            #"{"sound":{"name":"bell","critical":1}}"#,
            NotificationContent(sound: "bell")
        ),
        (#"{"content-available":1}"#, NotificationContent(isContentAvailable: true)),
        (#"{"content-available":true}"#, NotificationContent(isContentAvailable: true)),
        (#"{"content-available":0}"#, NotificationContent()), (#"{"content-available":-0.0}"#, NotificationContent()),
        (#"{"content-available":false}"#, NotificationContent()),
        (#"{"category":"C"}"#, NotificationContent(category: "C")),
        (#"{"thread-id":"T"}"#, NotificationContent(threadID: "T")),
        (#"{"url-args":["x"],"mutable-content":1,"n":1}"#, NotificationContent()),
    ])
    func readsAps(aps: String, content: NotificationContent) throws {
        let read = try #require(NotificationContent(aps: JSONValue(parsing: aps)))
        #expect(read == content)
        #expect(read.findings == [])
        #expect(try ReceivedMessage(payload: Array(#"{"aps":\#(aps)}"#.utf8)).content == content)
    }

    @Test(arguments: [
        (#"{"alert":1}"#, "/aps/alert", JSONValue.Kind.number), (#"{"alert":["x"]}"#, "/aps/alert", .array),
        (#"{"alert":true}"#, "/aps/alert", .bool), (#"{"alert":{"title":1}}"#, "/aps/alert/title", .number),
        (#"{"alert":{"subtitle":[]}}"#, "/aps/alert/subtitle", .array),
        (#"{"alert":{"body":{}}}"#, "/aps/alert/body", .object),
        (#"{"alert":{"loc-key":false}}"#, "/aps/alert/loc-key", .bool),
        (#"{"alert":{"loc-args":"x"}}"#, "/aps/alert/loc-args", .string),
        (#"{"alert":{"loc-args":["x",1]}}"#, "/aps/alert/loc-args/1", .number),
        (#"{"alert":{"action-loc-key":1}}"#, "/aps/alert/action-loc-key", .number),
        (#"{"alert":{"title-loc-key":1}}"#, "/aps/alert/title-loc-key", .number),
        (#"{"alert":{"subtitle-loc-args":{}}}"#, "/aps/alert/subtitle-loc-args", .object),
        (#"{"alert":{"show-view":"no"}}"#, "/aps/alert/show-view", .string),
        (#"{"badge":"1"}"#, "/aps/badge", .string), (#"{"badge":1.5}"#, "/aps/badge", .number),
        (#"{"badge":1e30}"#, "/aps/badge", .number), (#"{"badge":true}"#, "/aps/badge", .bool),
        (#"{"sound":1}"#, "/aps/sound", .number), (#"{"sound":{"name":1}}"#, "/aps/sound/name", .number),
        (#"{"content-available":"1"}"#, "/aps/content-available", .string),
        (#"{"category":1}"#, "/aps/category", .number),
        (#"{"thread-id":1}"#, "/aps/thread-id", .number),
    ])
    func namesThePlaceOfAWrongTypeAndLeavesItOut(aps: String, pointer: String, found: JSONValue.Kind) throws {
        let message = try ReceivedMessage(payload: Array(#"{"aps":\#(aps),"n":1}"#.utf8))
        let finding = try #require(message.content?.findings.first)
        #expect(finding.pointer.description == pointer)
        #expect(finding.found == found)
        #expect(message.findings == [finding])
        #expect(message.rawPayload[finding.pointer]?.kind == found)
        let content = try #require(message.content)
        #expect(content.alert == nil || content.alert == NotificationAlert())
        #expect(content.badge == .remove && content.sound == nil && content.category == nil && content.threadID == nil)
        #expect(!content.isContentAvailable)
    }

    @Test func argumentsAreAllThereOrNone() throws {
        let aps = #"{"alert":{"loc-args":["a",1,null,"b",[]],"title-loc-args":["a",null,"b"]}}"#
        let content = try #require(NotificationContent(aps: JSONValue(parsing: aps)))
        #expect(content.findings.map(\.pointer.description) == ["/aps/alert/loc-args/1", "/aps/alert/loc-args/4"])
        #expect(content.alert?.localizationArguments == [])
        #expect(content.alert?.titleLocalizationArguments == ["a", "b"])
        #expect("\(content.findings[0])" == #"left out: "/aps/alert/loc-args/1" is a number, not a string"#)
    }

    @Test(arguments: [
        #"{"alert":"x","badge":"1"}"#, #"{"alert":"x","content-available":"1"}"#, #"{"alert":{"body":"x","title":7}}"#,
        #"{"alert":{"body":"x","loc-args":["a",1]}}"#, #"{"alert":"x","sound":[],"category":{},"thread-id":false}"#,
        #"{"alert":{"body":"x","subtitle":null,"loc-args":["a",null]},"sound":{"name":null,"critical":null}}"#,
        #"{"alert":{"body":"x","loc-args":null},"badge":null,"sound":{"name":null}}"#,
    ])
    func anOddMemberLosesNothingElse(aps: String) throws {
        let message = try ReceivedMessage(payload: Array(#"{"aps":\#(aps),"n":1}"#.utf8))
        #expect(message.alertBody == "x")
        #expect(message.content?.isContentAvailable == false)
        #expect(message.content?.badge == .remove)
        #expect(message["n"]?.int64 == 1)
    }

    @Test(arguments: ["title-loc-key", "subtitle-loc-key", "loc-key"])
    func aKeyOfATextAloneIsVisible(_ key: String) throws {
        let message = try ReceivedMessage(payload: Array(#"{"aps":{"alert":{"\#(key)":"K"}}}"#.utf8))
        #expect(message.content?.alert?.isVisible == true)
    }

    @Test func aPayloadWithoutApsLeavesTheBadgeAlone() throws {
        #expect(try ReceivedMessage(payload: Array(#"{"topic":"t"}"#.utf8)).content == nil)
        #expect(try ReceivedMessage(fromAPNS: Array(#"{"to":"t"}"#.utf8)).content == nil)
        #expect(try ReceivedMessage(fromAPNS: Array(#"{"aps":{}}"#.utf8)).content?.badge == .remove)
    }

    @Test(arguments: [
        (NotificationAlert(), false), (NotificationAlert(body: ""), false), (NotificationAlert(body: "x"), true),
        (NotificationAlert(title: "x"), true), (NotificationAlert(localizationKey: "K"), true),
    ])
    func anAlertIsVisibleIfItHasText(alert: NotificationAlert, isVisible: Bool) {
        #expect(alert.isVisible == isVisible)
    }
}
