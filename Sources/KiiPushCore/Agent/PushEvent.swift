/// An event in an agent's life: of its registration, its connection, its storage, or a message.
///
/// Events are for people, logs and tests; they deliver no message. New cases may be added.
public enum PushEvent: Sendable {
    /// The cloud knows the agent: signed in, installation and endpoint at hand.
    case registered(Registration)
    /// The agent begins to connect to the broker.
    case connecting(host: String, port: Int, usesTLS: Bool)
    /// The broker has granted the subscription; from here on messages arrive.
    case connected(Connection)
    /// The connection ended, or an attempt failed. The agent makes the next attempt after `retryIn`, or sooner when the
    /// machine wakes up from a sleep.
    case disconnected(reason: String, retryIn: Duration)
    /// The cloud confirmed the subscription.
    case subscribed(SubscriptionTarget)
    /// The cloud did not confirm a subscription; the agent tries again after `retryIn`. After a refusal, such as for a
    /// topic that does not exist, that is 5 s, then up to 5 min. `nil` when the cloud refuses the agent's credentials:
    /// then ``PushAgent/run()`` ends and throws that error.
    case subscriptionFailed(SubscriptionTarget, reason: String, retryIn: Duration?)
    /// The agent cannot do part of its work, until ``recovered(_:)``. It reports each reason once.
    case trouble(Trouble, reason: String)
    /// The agent does this work again: its obstacle is gone.
    case recovered(Trouble)
    /// An incident that people should know of, and that has no end of its own. `messages` counts the messages
    /// concerned; `nil` where it concerns none.
    case notice(Notice, reason: String, messages: Int? = nil)
    /// The inbox file was damaged, or messages went missing because somebody removed, emptied, or replaced it by an
    /// older one. The remains stay at this path (the log with `-wal` added, the mark that counts the file's messages
    /// with `-mark`).
    ///
    /// A new file begins with `takenOver` messages of the old one: the readable ones that no handler had finished, dead
    /// letters included. At least `lost` messages were unreadable (``MessageLedger/lost``); `nil` when their number is
    /// unknown. A message that was handled just before may be delivered again.
    ///
    /// The first agents that run afterwards report it once, if need be in a later process.
    case inboxMovedAside(path: String, reason: String, takenOver: Int, lost: Int?)
    /// So many messages that another installation had received, and that no handler had finished, are this agent's now.
    /// The other installation has the same user or thing, or a person has decided so (`kii-push inbox adopt`).
    case adopted(fromInstallation: String, messages: Int)
    /// Something happened to a message.
    case message(MessageEvent)
    /// The agent is stopping: it starts no more handlers, and waits for the running ones.
    case stopping

    /// Work that the agent cannot do. For people and programs its words are, for example, `not storing` until the
    /// recovery and then `storing again`. New cases may be added.
    public enum Trouble: String, Sendable, Hashable, CaseIterable {
        /// The agent cannot write the inbox: it acknowledges nothing, so nothing is lost. On a full disk the inbox has
        /// made room before, as far as it could (``Notice/historyCut``).
        case storing
        /// The inbox is full of dead letters (``PushRuntime/Bounds/deadLetters``,
        /// ``PushRuntime/Bounds/deadLetterBytes``). The agent reads nothing from the network, so the broker keeps new
        /// messages. Retry or drop dead letters. The agent still delivers messages that are stored.
        case receiving
        /// The agent cannot write its own file. It uses the new state (a token, the broker's endpoint) from memory, and
        /// loses it if the process ends before the recovery. The next change writes the file again.
        case saving
        /// The agent cannot read stored messages back from the inbox. It tries again every second, and goes on to store
        /// and acknowledge arriving messages.
        case reading
        /// Stored messages wait, and fewer handlers run than may, or none. The agent looks for a remedy every second in
        /// two cases: the system gives no thread for another handler, as at the limit of the user or the container; or
        /// a program that handles messages cannot be started, as without a free descriptor (no attempt counts then). In
        /// a third case too many calls of handlers keep their threads long after their deadlines, so that the agent
        /// replaces no more threads.
        case handling
    }

    /// An incident that people should know of. The raw value is its word for people and programs. New cases may be
    /// added.
    public enum Notice: String, Sendable, Hashable, CaseIterable {
        /// Messages may be missing. The broker has lost the session that it should keep, or the cloud has replaced the
        /// installation or its topic. Messages sent before the new session are gone.
        case sessionLost = "session lost"
        /// Another receiver probably uses this agent's installation: the broker closes connection after connection and
        /// accepts each next one at once. A user or thing has one MQTT installation, for one receiver at a time: with
        /// two, each receives some of the messages. Stop the other receiver, or receive as another user or thing. Until
        /// then the agent pauses for up to 5 min after a connection that stood for less than 30 s. It reports this
        /// once, and again after a connection that stood for longer.
        case takenOver = "taken over"
        /// The disk was full, and the inbox has removed the records of so many handled messages, earlier than
        /// ``PushRuntime/Bounds/handledKeptFor`` and ``PushRuntime/Bounds/handledKeptBytes`` say. If the broker sends
        /// such a message again, it is delivered again. No message is lost.
        case historyCut = "history cut"
        /// The inbox removed so many dead letters to make room for newer ones. They were undecodable or oversized
        /// messages, or messages on an unexpected topic; these may take half of the room for dead letters. The agent
        /// reports it at most once a minute.
        case deadLettersRemoved = "letters dropped"
        /// There is no writable state directory, so the inbox is in memory alone, with the smaller promise of
        /// ``PushRuntime/Configuration/Inbox/memory``.
        case inboxInMemory = "in memory only"
        /// The runtime could not make the control socket (``PushRuntime/Configuration/hasControlSocket``). The agent
        /// receives, and nobody can watch it.
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
        /// The broker's promise: at QoS 1 it redelivers a message until the agent has stored it.
        public var guarantee: Guarantee
        /// Whether the broker had kept the session of the last connection.
        package var sessionPresent: Bool
    }

    /// The number of times that a message may arrive.
    public enum Guarantee: Sendable, Hashable {
        /// QoS 1: never lost once the broker has it; a duplicate is possible.
        case atLeastOnce
        /// QoS 0: a message is safe once it is stored here; one that the network drops before that is gone.
        case atMostOnce
    }
}
