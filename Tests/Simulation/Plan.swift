/// All that a seed decides about a history: how agent and broker are set up, what is sent, and what goes wrong.
package struct Plan: Sendable {
    /// How the broker numbers and repeats.
    struct Broker: Sendable {
        /// How many messages may be unacknowledged.
        var window: Int
        /// Whether each connection counts packet identifiers from 1, as RabbitMQ's do.
        var renumbers: Bool
        /// The packet identifier of the first message.
        var firstID: UInt16
        /// After how long it sends an unacknowledged message again while connected, as NATS does; such a broker sends nothing
        /// again when a connection begins. It keeps packet identifiers: with those counted from 1, the first of a connection would
        /// be that of a new message, and say nothing of those that come again.
        var resendsAfter: Duration?
        /// The quality of service that it grants.
        var grantedQoS: UInt8
        /// Whether it knows MQTT 3.1 alone, which cannot say whether there is a session.
        var isOld: Bool
    }

    /// How the agent is set up.
    struct Agent: Sendable {
        var isInMemory: Bool
        /// Whether the first process finds an inbox, and has not to make it.
        var findsInbox: Bool
        var isStrict: Bool
        /// The pauses between attempts; `nil`: the defaults.
        var pauses: [Duration]?
        var handlers: Int
        var messagesInMemory: Int
        var keepAlive: Duration
        /// How many bytes the disk holds.
        var diskBytes: Int64
        /// How long and how many bytes handled messages are kept.
        var keptFor: Duration
        var keptBytes: Int64

        var allPauses: [Duration] {
            if self.isInMemory { return [.seconds(1), .seconds(5)] }
            return self.pauses ?? [.seconds(1), .seconds(5), .seconds(30), .seconds(300), .seconds(1800)]
        }
    }

    /// One of the things that a failing history is shrunk by.
    enum Element: Sendable {
        case message(Message)
        case fault(Fault)

        /// When it happens, after the beginning.
        var at: Duration {
            switch self {
            case .message(let message): message.at
            case .fault(let fault): fault.at
            }
        }
    }

    struct Message: Sendable {
        /// Its number, by which handlers know it. Those that have one number have equal bytes.
        var number: Int
        var at: Duration
        var installation: Int
        var source: Int
        var kind: Kind
        var temper: Temper
        var padding: Int
        var qos: UInt8
    }

    enum Kind: Sendable {
        case good
        /// No JSON: a dead letter, which no handler sees.
        case undecodable
        /// Larger than a packet may be.
        case oversized
        /// On a topic that is not the installation's.
        case elsewhere
        /// A thing-if command, for which there is no handler.
        case command
    }

    /// How its handler takes it.
    enum Temper: Sendable {
        case good
        /// Each attempt does whatever chance says.
        case moody
        /// So many attempts fail.
        case failing(Int)
        /// The process dies whenever it is handled.
        case deadly
        /// The process ends in good order when it is handled for the first time.
        case stopping
    }

    struct Fault: Sendable {
        var at: Duration
        var kind: Kind
        /// What chance decides within it.
        var salt: UInt64

        enum Kind: Sendable {
            /// The connection breaks; both sides are told, or one, or none.
            case cut
            /// Nothing passes any more, and nobody is told.
            case silence
            /// The broker's packet never ends: a byte a second.
            case drip
            /// Nobody accepts connections for a while.
            case refusal(Duration)
            /// The broker has lost its sessions.
            case forgetting
            /// The broker dies and goes back to an old copy of its state.
            case goingBack
            /// The process is killed, or the power fails.
            case kill(power: Bool)
            /// The same amid one of the next operations on the disk.
            case killAtDisk(operations: Int, power: Bool)
            case stop
            /// Operations on the disk fail for a while: so many of a thousand writes and flushes, and reads.
            case disk(Duration, writes: UInt32, flushes: UInt32, reads: UInt32)
            /// Others fill the disk for a while.
            case full(Duration)
            /// The process is killed, and a page of the inbox is damaged before the next one starts.
            case damage
            case calendar(Duration)
            /// The machine sleeps.
            case sleep(Duration)
        }
    }

    /// What everything follows from.
    package let seed: UInt64
    let broker: Broker
    let agent: Agent
    let installations: Int
    /// In order of time. Each keeps its place in the whole plan, by which it is named.
    package private(set) var indices: [Int]
    private let all: [Element]

    var elements: [(index: Int, element: Element)] { self.indices.map { ($0, self.all[$0]) } }

    /// The same with these elements alone.
    package func keeping(_ indices: [Int]) -> Plan {
        var plan = self
        plan.indices = indices.filter(self.all.indices.contains)
        return plan
    }

    /// - Parameter seed: what everything follows from.
    package init(seed: UInt64) {
        var dice = Dice(seed, 1)
        let isInMemory = dice.percent(30)
        let isStormy = dice.percent(80)
        self.seed = seed
        self.broker = Plan.drawBroker(&dice)
        self.agent = Plan.drawAgent(&dice, isInMemory: isInMemory, isStormy: isStormy)
        self.installations = dice.percent(20) ? 2 : 1
        var elements = Plan.drawMessages(&dice, self.installations, isInMemory: isInMemory)
        if isStormy { elements += Plan.drawFaults(&dice, isInMemory: isInMemory) }
        self.all = elements.sorted { $0.at < $1.at }
        self.indices = Array(elements.indices)
    }
}

// MARK: - Drawing

extension Plan {
    private static func drawBroker(_ dice: inout Dice) -> Broker {
        let resends = dice.percent(10)
        return Broker(
            window: dice.pick([(3, 20), (1, 1), (2, 4), (1, 1000)]),
            renumbers: dice.percent(15) && !resends,
            firstID: dice.pick([(3, 1), (1, 65_530), (1, 300)]),
            resendsAfter: resends ? .seconds(30) : nil,
            grantedQoS: dice.percent(5) ? 0 : 1,
            isOld: !resends && dice.percent(5)
        )
    }

    private static func drawAgent(_ dice: inout Dice, isInMemory: Bool, isStormy: Bool) -> Agent {
        Agent(
            isInMemory: isInMemory,
            findsInbox: dice.percent(75) && !isInMemory,
            isStrict: dice.percent(20),
            // A history with the defaults lasts for hours, in which most of what happens is keepalive.
            pauses: dice.percent(95) ? [.seconds(1), .seconds(3), .seconds(8), .seconds(20), .seconds(40)] : nil,
            handlers: dice.pick([(3, 4), (1, 1), (1, 2)]),
            messagesInMemory: dice.pick([(2, 1000), (1, 4), (2, 12)]),
            keepAlive: .seconds(dice.pick([(2, 60), (1, 5), (1, 20)])),
            diskBytes: isStormy && dice.percent(15) ? 2 << 20 : 5 << 19,
            keptFor: dice.percent(10) ? .seconds(60) : .seconds(24 * 3600),
            keptBytes: dice.percent(10) ? 2000 : 64 << 20
        )
    }

    private static func drawMessages(_ dice: inout Dice, _ installations: Int, isInMemory: Bool) -> [Element] {
        let count = dice.pick([(4, 4), (4, 16), (2, 40)]) + dice.number(0...8)
        let sources = dice.pick([(1, 1), (2, 3), (1, 8)])
        let isCalm = dice.percent(40)
        let areEqual = dice.percent(10)
        var at = Duration.zero
        return (0..<count).map { number in
            // Bursts, and pauses between them.
            if dice.percent(30) { at += dice.milliseconds(0...(dice.percent(10) ? 20_000 : 2000)) }
            let temper: Temper =
                isCalm
                ? .good
                : dice.pick([
                    (140, .good), (28, .moody), (16, .failing(dice.number(1...3))), (5, .failing(20)), (1, .deadly),
                    (2, .stopping),
                ])
            return .message(
                Message(
                    number: areEqual ? 0 : number,
                    at: at,
                    installation: areEqual ? 0 : dice.number(0...installations - 1),
                    source: areEqual ? 0 : dice.number(0...sources - 1),
                    kind: areEqual
                        ? .good
                        : dice.pick([
                            (94, .good), (2, .undecodable), (2, .oversized), (1, .elsewhere), (1, .command),
                        ]),
                    temper: areEqual ? .good : temper,
                    padding: areEqual ? 0 : dice.percent(10) ? dice.number(0...9000) : dice.number(0...200),
                    qos: dice.percent(3) ? 2 : 1
                ))
        }
    }

    private static func drawFaults(_ dice: inout Dice, isInMemory: Bool) -> [Element] {
        (0..<dice.pick([(3, 1), (3, 3), (1, 8)])).map { _ in
            let kind: Fault.Kind = dice.pick([
                (30, .cut), (6, .silence), (4, .drip), (5, .refusal(dice.milliseconds(0...20_000))), (4, .forgetting),
                (4, .goingBack), (12, .kill(power: false)), (10, .kill(power: true)),
                (isInMemory ? 0 : 14, .killAtDisk(operations: dice.number(1...60), power: dice.percent(60))),
                (6, .stop),
                (
                    isInMemory ? 0 : 5,
                    .disk(
                        dice.milliseconds(0...10_000), writes: UInt32(dice.number(0...300)),
                        flushes: UInt32(dice.number(0...300)), reads: dice.percent(20) ? 100 : 0)
                ),
                (isInMemory ? 0 : 3, .full(dice.milliseconds(0...20_000))), (isInMemory ? 0 : 6, .damage),
                (2, .calendar(.seconds(dice.number(-7200...7200)))), (2, .sleep(.seconds(dice.number(5...7200)))),
            ])
            return .fault(Fault(at: dice.milliseconds(0...40_000), kind: kind, salt: dice.next()))
        }
    }
}

extension Plan: CustomStringConvertible {
    /// How it is set up, and one line for each element.
    package var description: String {
        let (agent, broker) = (self.agent, self.broker)
        let setting = """
              inbox \(agent.isInMemory ? "in memory" : agent.findsInbox ? "in a file" : "in a new file")\(agent.isStrict ? ", strict order" : ""), \
            \(agent.handlers) handlers, \(agent.messagesInMemory) messages in memory, keepalive \(agent.keepAlive), \
            disk \(agent.diskBytes), history \(agent.keptFor) and \(agent.keptBytes) bytes
              broker: window \(broker.window), first packet \(broker.firstID)\(broker.renumbers ? ", renumbers" : ""), \
            QoS \(broker.grantedQoS)\(broker.isOld ? ", MQTT 3.1" : "")\
            \(broker.resendsAfter.map { ", sends again after \($0)" } ?? "")
            """
        return ([setting] + self.elements.map { "  \($0): \($1.at) \($1)" }).joined(separator: "\n")
    }
}

extension Plan.Element: CustomStringConvertible {
    var description: String {
        switch self {
        case .message(let message):
            "message \(message.number) \(message.kind), handler \(message.temper), source \(message.installation)/"
                + "\(message.source), QoS \(message.qos), \(message.padding) bytes more"
        case .fault(let fault): "\(fault.kind)"
        }
    }
}
