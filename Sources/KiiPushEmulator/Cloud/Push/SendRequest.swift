import KiiPushCore

/// The body of a send, checked by the rules of Kii's REST reference.
struct SendRequest: Sendable {
    var sendToDevelopment: Bool
    var sendToProduction: Bool
    var pushMessageType: String?
    var sendAppID: Bool
    var sendSender: Bool
    var sendWhen: Bool
    var sendOrigin: Bool
    var sendObjectScope: Bool
    var sendTopicID: Bool
    var sections: PushSections

    /// - Parameter isStrict: whether MQTT's data may not have keys that Kii writes itself.
    /// - Throws: ``KiiFailure`` 400 `INVALID_INPUT_DATA`.
    init(_ body: JSONValue, isStrict: Bool) throws(KiiFailure) {
        self.sendToDevelopment = try SendRequest.flag(body, "sendToDevelopment", default: true)
        self.sendToProduction = try SendRequest.flag(body, "sendToProduction", default: true)
        self.sendAppID = try SendRequest.flag(body, "sendAppID", default: false)
        self.sendSender = try SendRequest.flag(body, "sendSender", default: true)
        self.sendWhen = try SendRequest.flag(body, "sendWhen", default: false)
        self.sendOrigin = try SendRequest.flag(body, "sendOrigin", default: false)
        self.sendObjectScope = try SendRequest.flag(body, "sendObjectScope", default: true)
        self.sendTopicID = try SendRequest.flag(body, "sendTopicID", default: true)
        switch body["pushMessageType"] {
        case .none: self.pushMessageType = nil
        case .some(let value) where value.isNull: self.pushMessageType = nil
        case .some(let value):
            guard let type = value.string else { throw .invalidInput("pushMessageType has to be a string.") }
            self.pushMessageType = type
        }
        self.sections = try PushSections(body, isStrict: isStrict)
    }

    private static func flag(_ body: JSONValue, _ name: String, default: Bool) throws(KiiFailure) -> Bool {
        guard let value = body[name], !value.isNull else { return `default` }
        guard let flag = value.bool else { throw .invalidInput("\(name) has to be true or false.") }
        return flag
    }
}
