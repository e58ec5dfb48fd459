import KiiPushCore

struct SendRequest: Sendable {
    enum Flag: String, CaseIterable, Sendable {
        case sendToDevelopment, sendToProduction, sendAppID, sendSender, sendWhen, sendOrigin, sendObjectScope
        case sendTopicID

        fileprivate var isOnByDefault: Bool { ![.sendAppID, .sendWhen, .sendOrigin].contains(self) }
    }

    private var flags: Set<Flag> = []
    var pushMessageType: String?
    var sections: PushSections

    init(_ body: JSONValue, isStrict: Bool) throws(KiiFailure) {
        for flag in Flag.allCases {
            let value = body.present(flag.rawValue) ?? JSONValue(flag.isOnByDefault)
            guard let isOn = value.bool else { throw .invalidInput("\(flag.rawValue) has to be true or false.") }
            if isOn { self.flags.insert(flag) }
        }
        self.pushMessageType = try body.text("pushMessageType")
        self.sections = try PushSections(body, isStrict: isStrict)
    }

    func has(_ flag: Flag) -> Bool { self.flags.contains(flag) }
}
