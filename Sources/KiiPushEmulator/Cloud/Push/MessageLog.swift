import KiiPushCore

/// The messages that were sent lately, for whoever looks at the emulator. Kept in memory alone.
struct MessageLog: Sendable {
    private static let maximumCount = 1000
    private static let maximumBytes = 16 << 20

    /// Oldest first, from `first` on. What was dropped before it leaves the array in batches, as that moves all others.
    private var stored: [LoggedMessage?] = []
    private var first = 0
    private var bytes = 0
    private var lastSequence: Int64 = 0

    private var messages: some Collection<LoggedMessage> { self.stored[self.first...].lazy.compactMap { $0 } }

    /// Those that were logged after the one numbered `sequence`, oldest first.
    func messages(after sequence: Int64, limit: Int) -> [LoggedMessage] {
        Array(self.messages.drop { $0.sequence <= sequence }.prefix(limit))
    }

    func message(id: String) -> LoggedMessage? { self.messages.first { $0.id == id } }

    /// Lets go of all of them. The numbers go on, so that who asks for what came after one of them misses nothing.
    mutating func removeAll() {
        let lastSequence = self.lastSequence
        self = MessageLog()
        self.lastSequence = lastSequence
    }

    /// Keeps `message` under the next number, and drops the oldest for as long as there are too many or too much.
    mutating func append(_ message: LoggedMessage) {
        self.lastSequence += 1
        var message = message
        message.sequence = self.lastSequence
        self.stored.append(message)
        self.bytes += message.bytes
        while self.stored.count - self.first > MessageLog.maximumCount || self.bytes > MessageLog.maximumBytes {
            guard let oldest = self.stored[self.first] else { break }
            self.bytes -= oldest.bytes
            self.stored[self.first] = nil
            self.first += 1
        }
        if self.first >= MessageLog.maximumCount {
            self.stored.removeFirst(self.first)
            self.first = 0
        }
    }
}

/// A message that was sent, as each network got it, and the installations that it went to.
struct LoggedMessage: Sendable, Hashable {
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
    fileprivate(set) var sequence: Int64 = 0

    fileprivate var bytes: Int {
        let delivered = self.deliveries.values.reduce(0) { $0 + $1.count }
        return self.renderings.reduce(512) { $0 + $1.message.count } + delivered * LoggedMessage.deliveryBytes
    }
}
