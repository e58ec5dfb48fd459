/// Everything that a seed decides about a history: the settings of agent and broker, the messages and the faults.
package struct Plan: Sendable {
    struct Broker: Sendable {
        var window: Int
        /// Whether each connection counts packet IDs from 1, as RabbitMQ does.
        var renumbers: Bool
        var firstID: UInt16
        /// Time after which the broker repeats an unacknowledged message on the same connection, as NATS does. Such a
        /// broker repeats nothing when a connection begins, and keeps its packet IDs. If it numbered from 1, a new
        /// message would get the first ID of a connection, and agents could not recognise redeliveries.
        var resendsAfter: Duration?
        var grantedQoS: UInt8
        /// Whether the broker knows only MQTT 3.1, whose CONNACK cannot report a session.
        var isOld: Bool
    }

    struct Agent: Sendable {
        var isInMemory: Bool
        var findsInbox: Bool
        var isStrict: Bool
        /// Pauses between attempts; `nil`: the defaults.
        var pauses: [Duration]?
        var handlers: Int
        var messagesInMemory: Int
        var keepAlive: Duration
        var diskBytes: Int64
        /// Limits for handled messages that the inbox keeps.
        var keptFor: Duration
        var keptBytes: Int64

        var allPauses: [Duration] {
            if self.isInMemory { return [.seconds(1), .seconds(5)] }
            return self.pauses ?? [.seconds(1), .seconds(5), .seconds(30), .seconds(300), .seconds(1800)]
        }
    }

    /// A part of a history that shrinking can leave out.
    enum Element: Sendable {
        case message(Message)
        case fault(Fault)

        var at: Duration {
            switch self {
            case .message(let message): message.at
            case .fault(let fault): fault.at
            }
        }
    }

    struct Message: Sendable {
        /// Handlers know a message by this number. Messages with the same number have equal bytes.
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
        /// Not JSON: the message becomes a dead letter, and no handler gets it.
        case undecodable
        case oversized
        case elsewhere
        case command
    }

    enum Temper: Sendable {
        case good
        case moody
        /// The first attempts fail, up to this number.
        case failing(Int)
        case deadly
        /// The first call of the handler ends the process cleanly; later calls succeed.
        case stopping
    }

    struct Fault: Sendable {
        var at: Duration
        var kind: Kind
        var salt: UInt64

        enum Kind: Sendable {
            /// The connection breaks; both ends, one or neither get an error.
            case cut
            /// Bytes no longer arrive, without an error at either end.
            case silence
            /// The broker sends an endless packet, a byte a second.
            case drip
            case refusal(Duration)
            case forgetting
            /// The broker crashes and goes back to an old copy of its state.
            case goingBack
            case kill(power: Bool)
            /// Like ``kill(power:)``, but during a later operation on the disk.
            case killAtDisk(operations: Int, power: Bool)
            case stop
            /// Operations on the disk fail for a while: `writes`, `flushes` and `reads` of a thousand each.
            case disk(Duration, writes: UInt32, flushes: UInt32, reads: UInt32)
            /// Other programs fill the disk for a while.
            case full(Duration)
            /// The process is killed, and a page of the inbox is damaged before the next process starts.
            case damage
            case calendar(Duration)
            case sleep(Duration)
        }
    }

    package let seed: UInt64
    let broker: Broker
    let agent: Agent
    let installations: Int
    /// Indices of the elements in the whole plan, in order of time. An element keeps its index when others are left
    /// out.
    package private(set) var indices: [Int]
    private let all: [Element]

    var elements: [(index: Int, element: Element)] { self.indices.map { ($0, self.all[$0]) } }

    package func keeping(_ indices: [Int]) -> Plan {
        var plan = self
        plan.indices = indices.filter(self.all.indices.contains)
        return plan
    }

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
            // With the default pauses a history lasts for hours, mostly of keep-alive packets.
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
