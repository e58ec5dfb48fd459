import KiiPushCore

package struct LoggedMessage: RecentEntry, Hashable {
    private static let deliveryBytes = 64

    /// Kii's three kinds, as Kii's SDKs spell them, and the commands of Kii's thing-if API.
    enum Kind: String, Sendable {
        case pushToApp = "PUSH_TO_APP"
        case pushToUser = "PUSH_TO_USER"
        case directPush = "DIRECT_PUSH"
        case command = "COMMAND"
    }

    let id: String
    let kind: Kind
    /// The source of the message, as a path below `kiicloud://`.
    let sourcePath: String
    let sender: Caller
    let sentAt: Timestamp
    let renderings: [PushRendering]
    /// The installations that would get the message from each network. The emulator delivers only over MQTT.
    let deliveries: [PushNetwork: [String]]
    /// The message's number, counted from 1 since the emulator's start. A reset does not restart the count.
    var sequence: Int64 = 0

    var bytes: Int {
        let delivered = self.installationCount * LoggedMessage.deliveryBytes
        return self.renderings.reduce(512) { $0 + $1.message.count } + delivered
    }
}
