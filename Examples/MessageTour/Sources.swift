import KiiPushCore

func showTopic(_ message: ReceivedMessage) {
    show("kind", message.kind)
    show("sourceTopic", message.sourceTopic?.id)
    show("scope", message.scope)
    show("scopeType", message.scopeType)
    show("sourceUser", message.sourceUser)
    show("sender", message.sender)
    show("senderUser", message.senderUser)
    show("senderURI", message.senderURI)
    show("sourceURI", message.sourceURI)
    show("eventType", message.eventType)
    show("when", message.when)
    show("custom", message["msg"]?.string)
}

func showChange(_ message: ReceivedMessage) {
    show("kind", message.kind)
    show("eventType", message.eventType)
    show("origin", message.origin)
    show("appID", message.appID)
    show("sourceBucket", message.sourceBucket?.id)
    show("sourceBucketType", message.sourceBucketType)
    show("sourceObject", message.sourceObject?.id)
    show("sourceGroup", message.sourceGroup)
    show("sourceThing", message.sourceThing)
    show("senderThing", message.senderThing)
    show("modifiedAt", message.modifiedAt)
    show("contains", [message.containsBucket, message.containsObject, message.containsTopic])
}

func showDirectPush(_ message: ReceivedMessage) {
    show("kind", message.kind)
    show("sender", message.sender)
    show("sourceURI", message.sourceURI)
    show("customMembers", message.customMembers.map(\.key))
}
