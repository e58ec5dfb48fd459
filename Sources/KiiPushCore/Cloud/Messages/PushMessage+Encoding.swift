extension PushMessage {
    package var json: JSONValue {
        .object(present: [
            "data": self.data, "pushMessageType": self.pushMessageType, "sendToDevelopment": self.sendToDevelopment,
            "sendToProduction": self.sendToProduction, "sendAppID": self.sendAppID, "sendSender": self.sendSender,
            "sendWhen": self.sendWhen, "sendOrigin": self.sendOrigin, "sendObjectScope": self.sendObjectScope,
            "sendTopicID": self.sendTopicID, "mqtt": self.mqtt?.json, "fcm": self.fcm?.json,
            "apns": self.apns?.json, "jpush": self.jpush?.json,
        ])
    }
}

extension PushMessage.DataPart {
    fileprivate var json: JSONValue { .object(present: ["enabled": self.isEnabled, "data": self.data]) }
}

extension PushMessage.AndroidPart {
    fileprivate var json: JSONValue {
        .object(present: [
            "enabled": self.isEnabled, "data": self.data, "notification": self.notification?.json,
            "collapseKey": self.collapseKey, "timeToLive": self.timeToLive?.components.seconds,
            "restrictedPackageName": self.restrictedPackageName,
        ])
    }
}

extension PushMessage.AndroidNotification {
    var json: JSONValue {
        .object(present: [
            "title": self.title, "body": self.body, "icon": self.icon, "sound": self.sound, "tag": self.tag,
            "color": self.color, "clickAction": self.clickAction,
        ])
    }
}

extension PushMessage.APNS {
    fileprivate var json: JSONValue {
        .object(present: [
            "enabled": self.isEnabled, "data": self.data, "alert": self.alert?.json, "sound": self.sound,
            "badge": self.badge, "contentAvailable": self.contentAvailable, "mutableContent": self.mutableContent,
            "category": self.category,
        ])
    }
}

extension PushMessage.Alert {
    var json: JSONValue {
        .object(present: [
            "title": self.title, "subtitle": self.subtitle, "body": self.body, "actionLocKey": self.actionLocKey,
            "locKey": self.locKey, "locArgs": self.locArgs, "launchImage": self.launchImage,
        ])
    }
}
