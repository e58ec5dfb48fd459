import KiiPushCore

struct LoggedMessage: RecentEntry, Hashable {
    /// The approximate size of one installation in the log: its ID, and the array's slot.
    private static let deliveryBytes = 64

    /// Kii's three kinds, in the spelling of its SDKs, and thing-if's commands, for which the SDKs have no word.
    enum Kind: String, Sendable {
        case pushToApp = "PUSH_TO_APP"
        case pushToUser = "PUSH_TO_USER"
        case directPush = "DIRECT_PUSH"
        case command = "COMMAND"
    }

    /// The `pushMessageID`.
    let id: String
    let kind: Kind
    /// The subject of the message, as a path below `kiicloud://`.
    let sourcePath: String
    let sender: Caller
    let sentAt: Timestamp
    let renderings: [PushRendering]
    /// The installations that each network was to reach. The emulator does not know what a real network does with the
    /// message.
    let deliveries: [PushNetwork: [String]]
    /// Counts the messages since this start of the emulator, from 1; a reset does not restart it.
    var sequence: Int64 = 0

    var bytes: Int {
        let delivered = self.deliveries.values.reduce(0) { $0 + $1.count }
        return self.renderings.reduce(512) { $0 + $1.message.count } + delivered * LoggedMessage.deliveryBytes
    }
}
