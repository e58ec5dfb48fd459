import KiiPushCore

func showTopic(_ message: ReceivedMessage) {
    show("kind", message.kind)
    show("sourceTopic", message.sourceTopic?.id)
    show("scope", message.scope)
    show("sender", message.sender)
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
    show("sourceObject", message.sourceObject?.id)
    show("scope", message.scope)
    show("sender", message.sender)
    show("modifiedAt", message.modifiedAt)
    show("sourceTopic", message.sourceTopic?.id)
}

func showDirectPush(_ message: ReceivedMessage) {
    show("kind", message.kind)
    show("sender", message.sender)
    show("sourceURI", message.sourceURI)
    show("customMembers", message.customMembers.map(\.key))
}
