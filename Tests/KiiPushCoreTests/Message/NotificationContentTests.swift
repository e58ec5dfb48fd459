import KiiPushCore
import Testing

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
                    actionLocalizationKey: "a", launchImage: "i", showsViewButton: false,
                    otherMembers: [JSONMember(key: "more", value: [1])]))
        ),
        (#"{"alert":{"show-view":true}}"#, NotificationContent(alert: NotificationAlert(showsViewButton: true))),
        (#"{"alert":null,"badge":null,"sound":null,"thread-id":null}"#, NotificationContent()),
        (#"{"badge":0}"#, NotificationContent(badge: .set(0))), (#"{"badge":5}"#, NotificationContent(badge: .set(5))),
        (#"{"badge":-1}"#, NotificationContent(badge: .set(-1))),
        (#"{"badge":2.0}"#, NotificationContent(badge: .set(2))),
        (#"{"sound":"default"}"#, NotificationContent(sound: "default")),
        (
            #"{"sound":{"name":"bell","critical":1}}"#,
            NotificationContent(
                sound: "bell", otherMembers: [JSONMember(key: "sound", value: ["name": "bell", "critical": 1])])
        ),
        (#"{"content-available":1}"#, NotificationContent(isContentAvailable: true)),
        (#"{"content-available":true}"#, NotificationContent(isContentAvailable: true)),
        (#"{"content-available":0}"#, NotificationContent()), (#"{"content-available":-0.0}"#, NotificationContent()),
        (#"{"content-available":false}"#, NotificationContent()),
        (#"{"category":"C"}"#, NotificationContent(category: "C")),
        (#"{"mutable-content":1}"#, NotificationContent(isMutableContent: true)),
        (#"{"mutable-content":0}"#, NotificationContent()),
        (#"{"thread-id":"T"}"#, NotificationContent(threadID: "T")),
        (
            #"{"url-args":["x"],"n":1}"#,
            NotificationContent(otherMembers: [
                JSONMember(key: "url-args", value: ["x"]), JSONMember(key: "n", value: 1),
            ])
        ),
    ])
    func readsAps(aps: String, content: NotificationContent) throws {
        #expect(try NotificationContent(aps: JSONValue(parsing: aps)) == content)
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
        (#"{"alert":{"launch-image":1}}"#, "/aps/alert/launch-image", .number),
        (#"{"alert":{"show-view":"no"}}"#, "/aps/alert/show-view", .string),
        (#"{"badge":"1"}"#, "/aps/badge", .string), (#"{"badge":1.5}"#, "/aps/badge", .number),
        (#"{"badge":1e30}"#, "/aps/badge", .number), (#"{"badge":true}"#, "/aps/badge", .bool),
        (#"{"sound":1}"#, "/aps/sound", .number), (#"{"sound":{"name":1}}"#, "/aps/sound/name", .number),
        (#"{"content-available":"1"}"#, "/aps/content-available", .string),
        (#"{"category":1}"#, "/aps/category", .number),
        (#"{"mutable-content":"1"}"#, "/aps/mutable-content", .string),
        (#"{"thread-id":1}"#, "/aps/thread-id", .number),
    ])
    func namesThePlaceOfAWrongType(aps: String, pointer: String, found: JSONValue.Kind) {
        let error = #expect(throws: MessageError.self) { try ReceivedMessage(payload: Array(#"{"aps":\#(aps)}"#.utf8)) }
        guard case .wrongType(let place, _, found) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(place.description == pointer)
    }

    @Test func aPayloadWithoutApsLeavesTheBadgeAlone() throws {
        #expect(try ReceivedMessage(payload: Array(#"{"topic":"t"}"#.utf8)).content == nil)
        #expect(try ReceivedMessage(fromAPNS: Array(#"{"to":"t"}"#.utf8)).content == nil)
        #expect(try ReceivedMessage(fromAPNS: Array(#"{"aps":{}}"#.utf8)).content?.badge == .remove)
    }

    @Test(arguments: [
        (NotificationAlert(), false), (NotificationAlert(body: ""), false), (NotificationAlert(body: "x"), true),
        (NotificationAlert(title: "x"), true), (NotificationAlert(localizationKey: "K"), true),
        (NotificationAlert(launchImage: "i"), false),
    ])
    func anAlertIsVisibleIfItHasText(alert: NotificationAlert, isVisible: Bool) {
        #expect(alert.isVisible == isVisible)
    }
}
