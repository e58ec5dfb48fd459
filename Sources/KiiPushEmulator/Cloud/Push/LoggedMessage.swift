import KiiPushCore

/// A message that was sent, as each network got it, and the installations that it went to.
struct LoggedMessage: RecentEntry, Hashable {
    /// What an installation weighs in the log: its ID, and the array's slot.
    private static let deliveryBytes = 64

    /// The three kinds that Kii has, in the spelling of its SDKs, and thing-if's commands, for which they have no word.
    enum Kind: String, Sendable {
        case pushToApp = "PUSH_TO_APP"
        case pushToUser = "PUSH_TO_USER"
        case directPush = "DIRECT_PUSH"
        case command = "COMMAND"
    }

    /// Its `pushMessageID`.
    let id: String
    let kind: Kind
    /// What it is about, as a path below `kiicloud://`.
    let sourcePath: String
    let sender: Caller
    let sentAt: Timestamp
    let renderings: [PushRendering]
    /// The installations that each network was to reach. What a real network makes of it is not known here.
    let deliveries: [PushNetwork: [String]]
    /// Counts the messages of this start of the emulator, from 1; a reset does not begin anew.
    var sequence: Int64 = 0

    var bytes: Int {
        let delivered = self.deliveries.values.reduce(0) { $0 + $1.count }
        return self.renderings.reduce(512) { $0 + $1.message.count } + delivered * LoggedMessage.deliveryBytes
    }
}
