import KiiPushCore

func showContent(_ message: ReceivedMessage) {
    show("alertBody", message.alertBody)
    show("title", message.content?.alert?.title)
    show("badge", message.content?.badge)
    show("sound", message.content?.sound)
    show("isContentAvailable", message.content?.isContentAvailable)
    show("category", message.content?.category)
    show("threadID", message.content?.threadID)
    show("sourceTopic", message.sourceTopic?.id)
    show("custom", message["table"]?.int64)
}

func showFields(_ message: ReceivedMessage) {
    for field in MessageField.allCases {
        if let value = message.value(of: field) { show("\(field)", value) }
    }
}

struct Dinner: Decodable {
    var msg: String
    var table: Int?
}

func showDinner(_ message: ReceivedMessage) throws {
    show("subscript", message["msg"]?.string)
    show("nested", message["guests"]?[1]?.string)
    show("decode", try message.decode(Dinner.self).table)
    show("rawPayload", message.rawPayload)
    show("payloadBytes", message.payloadBytes.count)
    show("message", message)
}

func showWhatIsLeftOut(_ message: ReceivedMessage) {
    for finding in message.findings { print(finding) }
    show("badge", message.content?.badge)
    show("alertBody", message.alertBody)
    show("rawPayload", message.rawPayload["aps"]?["badge"]?.string)
}

func reasonToRefuse(_ payload: String) -> String {
    do throws(MessageError) {
        return "a \(try ReceivedMessage(payload: Array(payload.utf8)).kind) message"
    } catch {
        switch error {
        case .malformed(let error): return "\(error)"
        case .notAnObject(let kind): return "a \(kind)"
        case .thingCommand(let command): return "the command \(command.commandID)"
        }
    }
}
