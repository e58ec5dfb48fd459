import KiiPushCommandLine
import KiiPushCore

enum MessageFixture: String, CaseIterable, ExpressibleByArgument {
    case hello
    case reading
    case alert
    case localized
    case actions
    case wake
    case clearBadge = "clear-badge"
    case android
    case typed

    var purpose: String { self.start.purpose }

    var message: PushMessage {
        var message = self.start.data.map { PushMessage(data: $0) } ?? PushMessage(mqtt: nil)
        switch self {
        case .hello, .reading: break
        case .alert:
            message.apns = .init(alert: .init(title: "Kitchen", body: "Dinner is ready"))
            message.apns?.sound = "default"
            message.apns?.badge = 1
        case .localized:
            message.apns = .init(alert: .init())
            message.apns?.alert?.locKey = "ORDER_READY"
            message.apns?.alert?.locArgs = ["42", "Ann"]
        case .actions:
            message.apns = .init(alert: .init(title: "Invitation", body: "Tea at five?"))
            message.apns?.category = "INVITATION"
            message.apns?.mutableContent = true
        case .wake:
            message.apns = .init()
            message.apns?.contentAvailable = true
        case .clearBadge:
            message.apns = .init()
            message.apns?.badge = 0
        case .android:
            message.fcm = .init(notification: .init(title: "Kitchen", body: "Dinner is ready"))
            message.fcm?.collapseKey = "kitchen"
        case .typed:
            message.pushMessageType = "NEWS"
            (message.sendWhen, message.sendOrigin, message.sendAppID) = (true, true, true)
        }
        return message
    }

    private var start: (purpose: String, data: JSONValue?) {
        switch self {
        case .hello: ("one text, the least there is", ["msg": "Hello"])
        case .reading:
            (
                "values of every type that data may have: text, numbers, a truth value",
                ["meter": "boiler-3", "pressure": 2.4, "count": 17, "ok": true]
            )
        case .alert: ("a title, a text, a sound and a number on the icon", ["order": 42])
        case .localized:
            ("an alert whose text is in the program's own strings, with what is put into it", ["order": 42])
        case .actions:
            ("an alert with the buttons of a category, which the program may change before", ["invitation": "i-7"])
        case .wake: ("a background push: nothing is shown, and the program is called", ["sync": "mailbox"])
        case .clearBadge: ("nothing but taking the number away from the icon", Optional.none)
        case .android: ("what Android shows by itself, over FCM, beside MQTT", ["order": "42"])
        case .typed:
            ("a type of one's own, the time, the origin and the app's ID", ["msg": "The office closes at noon"])
        }
    }
}

enum ObjectFixture: String, CaseIterable, ExpressibleByArgument {
    case note, order

    var purpose: String {
        switch self {
        case .note: "a flat object"
        case .order: "an object with an object and an array in it, which objects may have and messages may not"
        }
    }

    var fields: JSONValue {
        switch self {
        case .note: ["title": "milk", "done": false]
        case .order: ["number": 42, "customer": ["name": "Ann", "table": 4], "items": [["name": "tea", "count": 2]]]
        }
    }
}
