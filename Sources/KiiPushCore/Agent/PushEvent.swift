/// What happened to an agent: its registration, its connection, its storage, and the life of each message.
///
/// Events are for people, logs and tests; nothing is delivered through them. New cases may be added.
public enum PushEvent: Sendable {
    /// The cloud knows the agent: signed in, installation and endpoint at hand.
    case registered(Registration)
    /// A connection to the broker is being made.
    case connecting(host: String, port: Int, usesTLS: Bool)
    /// The broker has granted the subscription; from here on messages arrive.
    case connected(Connection)
    /// The connection ended, or none came about; the next attempt is made after `retryIn`, or sooner when the machine
    /// wakes up from a sleep.
    case disconnected(reason: String, retryIn: Duration)
    /// The cloud confirmed the subscription.
    case subscribed(SubscriptionTarget)
    /// A subscription could not be confirmed; it is tried again after `retryIn`: what the cloud refuses, such as a topic
    /// that is not there, after 5 s and, while it goes on, after up to 5 min. `nil` when the cloud refuses what the agent
    /// signs in with: then ``PushAgent/run()`` ends and throws that.
    case subscriptionFailed(SubscriptionTarget, reason: String, retryIn: Duration?)
    /// The agent cannot do part of its work, until ``recovered(_:)``. It tells this once for each reason.
    case trouble(Trouble, reason: String)
    /// The agent does this work again: whatever kept it from it is over.
    case recovered(Trouble)
    /// An incident that people should know of, and that has no end of its own. `messages` counts the messages
    /// concerned; `nil` where it concerns none.
    case notice(Notice, reason: String, messages: Int? = nil)
    /// The inbox file was damaged, or messages were gone with it: it was removed, emptied, or replaced by an older one. What
    /// was left is kept under this path (its log with `-wal` added, the mark that counts its messages with `-mark`). A new
    /// file was begun with `takenOver` messages that were not handled yet, or had been given up on, and could still be
    /// read. At least `lost` could not be (``MessageLedger/lost``); `nil` when their number is unknown. A message that was
    /// handled just before may be delivered again.
    ///
    /// It is told once, to the first agents that run afterwards, if need be in a later process.
    case inboxMovedAside(path: String, reason: String, takenOver: Int, lost: Int?)
    /// So many messages that another installation had received, and that no handler had finished, are this agent's now: the
    /// other one was of the same user or thing, or a person has decided so (`kii-push inbox adopt`).
    case adopted(fromInstallation: String, messages: Int)
    /// Something happened to a message.
    case message(MessageEvent)
    /// The agent was asked to stop: no handler is started any more, and those that run are waited for.
    case stopping

    /// Work that the agent cannot do. Its word for people and programs is `not storing` until the recovery, and then
    /// `storing again`. New cases may be added.
    public enum Trouble: String, Sendable, Hashable, CaseIterable {
        /// The inbox cannot be written: nothing is acknowledged, so nothing is lost. On a full disk the inbox has made room
        /// before, as far as it could (``Notice/historyCut``).
        case storing
        /// The inbox is full of dead letters (``PushRuntime/Bounds/deadLetters``,
        /// ``PushRuntime/Bounds/deadLetterBytes``). The agent reads nothing from the network, so the broker keeps new
        /// messages. Retry or drop dead letters. The agent still delivers messages that are stored.
        case receiving
        /// The agent cannot write its own file. It uses the new state (a token, the broker's endpoint) from memory, and
        /// loses it if the process ends before the recovery. The next change writes the file again.
        case saving
        /// Stored messages cannot be read back from the inbox. The agent tries again every second, and stores and
        /// acknowledges meanwhile what arrives.
        case reading
        /// Fewer handlers run than may, or none, and stored messages wait. Either the system gives no thread for another
        /// handler, as at the limit of the user or the container: the agent asks for one every second. Or a program that
        /// handles messages cannot be started, as without a free descriptor: the agent tries that every second too, and no
        /// attempt counts that way. Or too many calls of handlers keep their threads long after their deadlines, so
        /// that the agent replaces no more threads.
        case handling
    }

    /// An incident that people should know of. The raw value is its word for people and programs. New cases may be
    /// added.
    public enum Notice: String, Sendable, Hashable, CaseIterable {
        /// Messages may be missing. The broker has lost the session that it was to keep, or the cloud has replaced the
        /// installation or its topic, and messages sent before the new session are gone.
        case sessionLost = "session lost"
        /// Another receiver probably uses this agent's installation: the broker closes connection after connection and takes
        /// each next one at once. A user or thing has one MQTT installation, for one receiver at a time: with two, each
        /// receives some of the messages. Stop the other receiver, or receive as another user or thing. Until then the
        /// agent pauses for up to 5 min after a connection that stood for less than 30 s. It tells this once, and again
        /// after a connection that stood for longer.
        case takenOver = "taken over"
        /// The disk was full, and the inbox has removed the records of so many handled messages, earlier than
        /// ``PushRuntime/Bounds/handledKeptFor`` and ``PushRuntime/Bounds/handledKeptBytes`` say. If the broker sends one of
        /// them again, it is delivered again. No message is lost.
        case historyCut = "history cut"
        /// So many dead letters were removed to make room for newer ones: undecodable or oversized messages, or messages on
        /// an unexpected topic, which took half of what dead letters may take. Told once a minute at most.
        case deadLettersRemoved = "letters dropped"
        /// There is no writable state directory, so the inbox is in memory alone, with the smaller promise of
        /// ``PushRuntime/Configuration/Inbox/memory``.
        case inboxInMemory = "in memory only"
        /// The control socket (``PushRuntime/Configuration/hasControlSocket``) could not be made: the agent receives, and
        /// nobody can watch it.
        case controlSocketFailed = "not watchable"
        /// Another program (`kii-push run --activate`) has started this process for a push, and no agent has asked for the
        /// ``MessageFeed`` of `KiiPushActivation`. The agent connects to the broker by itself.
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
        /// Whether it goes through a WebSocket; see ``PushAgent/Transport``.
        public var usesWebSocket = false
        /// Whether the broker's certificate was verified, so that nobody on the way can read or forge anything: with TLS,
        /// unless `kii-push` was started with `--insecure`.
        public var isVerified: Bool
        /// MQTT's name and level: `3.1.1` or `3.1`.
        package var protocolVersion: String
        /// What the broker promised: at QoS 1 a message is redelivered until it is stored here.
        public var guarantee: Guarantee
        /// Whether the broker had kept the session of the last connection.
        package var sessionPresent: Bool
    }

    /// How often a message may arrive.
    public enum Guarantee: Sendable, Hashable {
        /// QoS 1: never lost once the broker has it; a duplicate is possible.
        case atLeastOnce
        /// QoS 0: safe from the moment it is stored here; what the network drops before is gone.
        case atMostOnce
    }
}
