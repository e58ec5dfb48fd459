/// An event of an agent: about its registration, its connection, its storage, or a message.
///
/// ```swift
/// for await event in agent.events {
///     if case .trouble(let kind, let reason) = event { print("not \(kind.rawValue): \(reason)") }
/// }
/// ```
///
/// New cases may be added.
public enum PushEvent: Sendable {
    /// The agent has signed in, and has an installation and the broker's endpoint.
    case registered(Registration)
    /// The agent begins to connect to the broker.
    case connecting(host: String, port: Int, usesTLS: Bool)
    /// The broker has granted the subscription, so messages arrive.
    case connected(Connection)
    /// The connection ended, or an attempt failed, perhaps at the cloud or a file. The next attempt follows after
    /// `retryIn`, perhaps earlier if the machine wakes up from sleep.
    case disconnected(reason: String, retryIn: Duration)
    /// The cloud confirmed the subscription.
    case subscribed(SubscriptionTarget)
    /// The cloud did not confirm a subscription; the agent retries after `retryIn`. After a refusal, for instance of a
    /// topic that does not exist, the pause is up to 5 s, later up to 5 min. `nil` if the agent gives up because the
    /// cloud refuses its credentials: ``PushAgent/run()`` then throws that error.
    case subscriptionFailed(SubscriptionTarget, reason: String, retryIn: Duration?)
    /// The agent cannot do part of its work until ``recovered(_:)``. Another event follows if the reason changes.
    case trouble(Trouble, reason: String)
    /// A trouble has ended: the agent again does the work that it could not do.
    case recovered(Trouble)
    /// An incident. No later event reports its end. `messages` counts removed messages; `nil` for other incidents.
    case notice(Notice, reason: String, messages: Int? = nil)
    /// The inbox file was damaged, removed, emptied, or replaced by an older copy. The library keeps the old file, if
    /// there is one, at `path`, its log at `path` with `-wal` added, and its count of messages with `-mark` added.
    ///
    /// A new file begins with the `takenOver` readable, unfinished messages of the old one, dead letters included. At
    /// least `lost` messages are missing or unreadable (``MessageLedger/lost``); `nil` if the number is unknown. A
    /// message that was handled just before may be delivered again.
    ///
    /// The first agents that run afterwards report this once, perhaps in a later process.
    case inboxMovedAside(path: String, reason: String, takenOver: Int, lost: Int?)
    /// The agent now handles this number of unfinished messages of another installation. That installation has the same
    /// user or thing, or a person chose it (`kii-push inbox adopt`).
    case adopted(fromInstallation: String, messages: Int)
    /// Something happened to a message.
    case message(MessageEvent)
    /// The agent is stopping: it starts no more handlers, and waits for running ones.
    case stopping

    /// Work that the agent cannot do. Texts say, for example, `not storing`, and `storing again` after the recovery.
    /// New cases may be added.
    public enum Trouble: String, Sendable, Hashable, CaseIterable {
        /// The agent cannot write the inbox. It acknowledges no new message, so no message of QoS 1 is lost. On a full
        /// disk, the inbox first makes room (``Notice/historyCut``).
        case storing
        /// The inbox is full of dead letters (``PushRuntime/Bounds/deadLetters``,
        /// ``PushRuntime/Bounds/deadLetterBytes``). The agent stops reading from the network, so the broker keeps new
        /// messages. It still delivers stored messages. Retry or drop dead letters.
        case receiving
        /// The agent cannot write one of its own files. It keeps the new state, such as a token, in memory, and writes
        /// the file with the next change or when the agent stops. If the process ends before the write, the new state
        /// is lost.
        case saving
        /// The agent cannot read stored messages from the inbox. It retries every second. It still stores and
        /// acknowledges new messages.
        case reading
        /// Messages wait, although fewer handlers run than allowed. One cause: the system gives no thread for a
        /// handler, or a program that handles messages cannot be started (this counts as no attempt). The agent
        /// retries, usually every second. The other cause: too many handlers have not returned long after their
        /// deadlines, and the agent starts no more threads in their place.
        case handling
    }

    /// An incident that people should know of. The raw value is its word in texts and JSON. New cases may be added.
    public enum Notice: String, Sendable, Hashable, CaseIterable {
        /// The broker lost the agent's session, or the cloud replaced the installation or its topic. Messages that
        /// waited in the old session are lost.
        case sessionLost = "session lost"
        /// Another receiver probably uses this agent's installation: the broker accepts each connection and soon closes
        /// it. Each receiver gets only some of the messages. Stop the other receiver, or receive as another user or
        /// thing: each user or thing has one MQTT installation.
        ///
        /// While both receive, the agent pauses for up to 5 min after a connection of less than 30 s. It reports the
        /// other receiver once, and again after a longer connection.
        case takenOver = "taken over"
        /// The disk was full. The inbox removed records of handled messages earlier than
        /// ``PushRuntime/Bounds/handledKeptFor`` and ``PushRuntime/Bounds/handledKeptBytes`` say. If the broker repeats
        /// such a message, the handler gets it again. No message is lost.
        case historyCut = "history cut"
        /// The inbox removed dead letters to make room for newer ones: undecodable or oversized messages, or messages
        /// on an unexpected topic. These may take half of the room for dead letters. Reported at most once a minute.
        case deadLettersRemoved = "letters dropped"
        /// The state directory is not writable, so the inbox is in memory, with the weaker guarantee of
        /// ``PushRuntime/Configuration/Inbox/memory``.
        case inboxInMemory = "in memory only"
        /// The runtime could not make the control socket (``PushRuntime/Configuration/hasControlSocket``). The agent
        /// receives, but nobody can watch it.
        case controlSocketFailed = "not watchable"
        /// `kii-push run --activate` started this process for a push, but the program does not use the ``MessageFeed``
        /// of `KiiPushActivation`. The agent connects to the broker itself.
        case launchIgnored = "launch ignored"
    }

    /// A connection that carries messages.
    public struct Connection: Sendable, Hashable {
        /// The broker's host name or address.
        public var host: String
        /// The broker's port.
        public var port: Int
        /// Whether the connection is encrypted.
        public var usesTLS: Bool
        /// Whether MQTT runs over a WebSocket; see ``PushAgent/Transport``.
        public var usesWebSocket = false
        /// Whether the broker's certificate was verified: with TLS, unless `kii-push` was started with `--insecure`.
        public var isVerified: Bool
        package var protocolVersion: String
        /// The QoS that the broker granted. At 1 it repeats a message until the agent has stored it, and duplicates are
        /// possible. At 0 the network may lose a message before the agent has stored it.
        public var qualityOfService: Int
        package var sessionPresent: Bool
    }
}
