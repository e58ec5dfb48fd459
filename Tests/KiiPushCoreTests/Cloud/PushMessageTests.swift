import KiiPushCore
import TestSupport
import Testing

@Suite struct PushMessageTests {
    @Test func isSentOverMQTTAloneUnlessToldOtherwise() {
        #expect(PushMessage(data: ["a": 1]).json.text == #"{"data":{"a":1},"mqtt":{"enabled":true}}"#)
    }

    @Test func writesEveryPart() throws {
        var message = PushMessage(data: ["msg": "hi"], mqtt: .init(data: ["m": 1.5]))
        message.pushMessageType = "NEWS"
        message.sendToDevelopment = false
        message.sendToProduction = true
        message.sendAppID = true
        message.sendSender = false
        message.sendWhen = true
        message.sendOrigin = true
        message.sendObjectScope = false
        message.sendTopicID = false
        var notification = PushMessage.AndroidNotification(title: "T", body: "B")
        notification.icon = "i"
        notification.sound = "s"
        notification.tag = "t"
        notification.color = "#00ff00"
        notification.clickAction = "OPEN"
        var fcm = PushMessage.AndroidPart(isEnabled: false, data: ["f": "1"], notification: notification)
        fcm.collapseKey = "c"
        fcm.timeToLive = .milliseconds(60_999)
        fcm.restrictedPackageName = "p"
        message.fcm = fcm
        var alert = PushMessage.Alert(title: "T", subtitle: "S", body: "B")
        alert.actionLocKey = "al"
        alert.locKey = "l"
        alert.locArgs = ["x", "y"]
        alert.launchImage = "img"
        var apns = PushMessage.APNS(data: ["p": true], alert: alert)
        apns.sound = "default"
        apns.badge = 0
        apns.contentAvailable = true
        apns.mutableContent = false
        apns.category = "cat"
        message.apns = apns
        message.jpush = .init(isEnabled: true, data: ["j": 2.5])
        let expected = #"""
            {"data":{"msg":"hi"},"pushMessageType":"NEWS","sendToDevelopment":false,"sendToProduction":true,
            "sendAppID":true,"sendSender":false,"sendWhen":true,"sendOrigin":true,"sendObjectScope":false,
            "sendTopicID":false,"mqtt":{"enabled":true,"data":{"m":1.5}},
            "fcm":{"enabled":false,"data":{"f":"1"},"notification":{"title":"T","body":"B","icon":"i","sound":"s",
            "tag":"t","color":"#00ff00","clickAction":"OPEN"},"collapseKey":"c","timeToLive":60,
            "restrictedPackageName":"p"},
            "apns":{"enabled":true,"data":{"p":true},"alert":{"title":"T","subtitle":"S","body":"B",
            "actionLocKey":"al","locKey":"l","locArgs":["x","y"],"launchImage":"img"},"sound":"default","badge":0,
            "contentAvailable":true,"mutableContent":false,"category":"cat"},
            "jpush":{"enabled":true,"data":{"j":2.5}}}
            """#
        #expect(try message.json == JSONValue(parsing: expected))
        #expect(throws: Never.self) { try message.validate() }
    }

    private static func edited(_ edit: (inout PushMessage) -> Void) -> PushMessage {
        var message = PushMessage(data: ["msg": "hi"])
        edit(&message)
        return message
    }

    @Test(arguments: [
        (PushMessage(), "/data"), (PushMessage(data: [1]), "/data"), (PushMessage(data: "x"), "/data"),
        (PushMessage(data: ["a": 1, "b/c": ["d": 1]]), "/data/b~1c"), (PushMessage(data: ["a": [1]]), "/data/a"),
        (PushMessage(data: ["a": 1], mqtt: nil), ""), (PushMessage(data: ["a": 1], mqtt: .init(isEnabled: false)), ""),
        (PushMessage(data: [:], mqtt: .init(data: ["a": [:]])), "/mqtt/data/a"),
        (PushMessage(data: [:], mqtt: .init(data: 1)), "/mqtt/data"),
        (edited { $0.jpush = .init(data: ["a": []]) }, "/jpush/data/a"),
        (edited { $0.apns = .init(data: ["a": []]) }, "/apns/data/a"),
        (edited { $0.jpush = .init(data: ["s": "x", "n": 1, "b": true, "z": nil]) }, "/jpush/data/z"),
        (edited { $0.apns = .init(isEnabled: false, data: ["z": nil]) }, "/apns/data/z"),
        (edited { $0.apns = .init(data: "x") }, "/apns/data"), (edited { $0.fcm = .init(data: [1]) }, "/fcm/data"),
        (edited { $0.fcm = .init(data: ["a": 1]) }, "/fcm/data/a"),
        (edited { $0.fcm = .init(isEnabled: false, data: ["a": true]) }, "/fcm/data/a"),
        (edited { $0.fcm = .init(data: ["a": nil]) }, "/fcm/data/a"),
        (edited { $0.fcm = .init(data: ["google.x": "1"]) }, "/fcm/data/google.x"),
        (
            edited {
                $0.data = ["from": "x"]
                $0.fcm = .init()
            }, "/data/from"
        ),
        (
            edited {
                $0.data = ["gcm.x": "x"]
                $0.fcm = .init()
            }, "/data/gcm.x"
        ),
        (edited { $0.fcm = .init(data: ["priority": "1"]) }, "/fcm/data/priority"),
        (
            edited {
                $0.data = nil
                $0.mqtt?.data = ["a": 1]
                $0.jpush = .init()
            }, "/data"
        ),
        (
            edited {
                $0.data = nil
                $0.mqtt = nil
                $0.apns = .init()
                $0.apns?.contentAvailable = false
            }, "/data"
        ),
        (
            edited {
                $0.fcm = .init()
                $0.fcm?.timeToLive = .seconds(1)
            }, "/fcm/collapseKey"
        ),
        (
            edited {
                $0.fcm = .init()
                $0.fcm?.collapseKey = "c"
                $0.fcm?.timeToLive = .milliseconds(-1)
            }, "/fcm/timeToLive"
        ),
    ])
    func whatKiiWouldRefuseIsNamedByItsPlace(message: PushMessage, pointer: String) {
        let error = #expect(throws: KiiInputError.self) { try message.validate() }
        #expect(error?.field == .message)
        #expect(error?.pointer == JSONPointer(pointer))
    }

    @Test(arguments: [
        PushMessage(data: [:]), PushMessage(data: ["a": "b", "n": 1.5, "t": true, "z": nil]),
        PushMessage(mqtt: .init(data: ["a": 1])),
        edited { $0.data = ["from": "x"] },  // reserved by networks that are not enabled
        edited {
            $0.data = ["from": "x"]
            $0.fcm = .init(isEnabled: false)
        },
        edited {
            $0.data = nil
            $0.mqtt = nil
            $0.apns = .init(alert: .init(body: "b"))
        },
        edited {  // a silent one
            $0.data = nil
            $0.mqtt = nil
            $0.apns = .init()
            $0.apns?.contentAvailable = true
        },
        edited {
            $0.data = nil
            $0.mqtt = nil
            $0.apns = .init()
            $0.apns?.badge = 0
        },
        edited { $0.apns = .init(data: ["s": "x", "n": 1.5, "b": false]) },
    ])
    func whatKiiTakesIsNotRefused(_ message: PushMessage) {
        #expect(throws: Never.self) { try message.validate() }
    }

    @Test func aRefusedMessageIsNeverSent() async throws {
        let (requests, result) = await exchange(.status(200, #"{"pushMessageID":"p"}"#)) {
            try await $0.session(testToken).send(PushMessage(data: ["s3cr3t": ["s3cr3t"]]), to: .topic(Topic("t")))
        }
        let error = try #require(#expect(throws: KiiInputError.self) { try result.get() })
        #expect(requests.isEmpty)
        #expect(error.description.contains("must be a string, number or Boolean, since data is flat"))
    }
}
