import TestSupport

extension Scenario {
    package enum Size: Sendable {
        /// The size of the published table.
        case full
        /// A few seconds for each scenario.
        case quick
    }

    package static func all(_ size: Size) -> [Scenario] {
        let isFull = size == .full
        return [
            .kill(messages: isFull ? 3000 : 500, kills: isFull ? 60 : 10),
            .kill200(messages: isFull ? 10_000 : 1000, kills: isFull ? 200 : 20),
            .killInMemory(messages: isFull ? 1000 : 200, kills: isFull ? 20 : 4),
            .secure(messages: isFull ? 1000 : 200, kills: isFull ? 20 : 4),
            .poison(messages: isFull ? 300 : 60),
            .cut(messages: isFull ? 2000 : 400, cuts: isFull ? 40 : 8),
            .cutInMemory(messages: isFull ? 1000 : 200, cuts: isFull ? 20 : 4),
            .lostAcknowledgement(rounds: isFull ? 40 : 8),
            .halfOpen(rounds: isFull ? 6 : 3),
            .refuse(rounds: isFull ? 10 : 3),
            .split(messages: isFull ? 300 : 50),
            .offline(messages: 300),
            .broker(kills: isFull ? 10 : 4),
            .lazyBroker(kills: isFull ? 10 : 4),
            .window(messages: isFull ? 3000 : 1100),
            .renumber(messages: isFull ? 1000 : 200, cuts: isFull ? 20 : 6),
            .withoutDUP(messages: isFull ? 400 : 100),
            .equal(rounds: isFull ? [1, 2, 7, 13, 20, 27, 33, 39] : [1, 20]),
            .equalRenumbered(rounds: isFull ? [11, 21, 31] : [21]),
            .slow(messages: isFull ? 200 : 40, every: isFull ? 50 : 40, keepAliveSeconds: isFull ? 1 : 5),
            .withheld(seconds: 3),
            .clock(messages: isFull ? 600 : 120),
            .disk(messages: 400),
            .smallDisk(megabytes: 2, messages: isFull ? 4000 : 300, padding: isFull ? 200 : 4000),
            .smallDisk(megabytes: 8, messages: isFull ? 8000 : 1200, padding: isFull ? 1000 : 8000),
            .smallDisk(megabytes: 16, messages: isFull ? 8000 : 2400, padding: isFull ? 2000 : 8000),
            .damage(isFull ? Damage.all : Damage.some, messages: 60),
            .power(
                messages: isFull ? 3000 : 400, cuts: isFull ? 60 : 8, step: isFull ? 1 : 4,
                damages: isFull ? [.zeroedLeaf, .removed] : [.zeroedLeaf]),
            .powerWithoutFlushes(messages: isFull ? 1000 : 300, cuts: isFull ? 10 : 3),
            .badInput(messages: isFull ? 600 : 120),
            .stranded(messages: isFull ? 1000 : 200),
            .descriptors(
                messages: isFull ? 1200 : 150, programs: isFull ? 1000 : 100, files: isFull ? 1024 : 64),
        ]
    }

    /// The scenarios that suit any client: kills at work, and cuts.
    package static func forPeers(_ size: Size) -> [Scenario] {
        Scenario.all(size).filter { ["kill", "cut"].contains($0.name) }
    }

    /// The scenarios for other brokers. NATS redelivers only after 30 s.
    package static func forBrokers(_ size: Size) -> [Scenario] {
        let isFull = size == .full
        return [
            .offline(messages: 300),
            .kill(messages: isFull ? 1000 : 200, kills: isFull ? 20 : 4),
            .killInMemory(messages: isFull ? 200 : 100, kills: isFull ? 4 : 2),
            .cut(messages: isFull ? 600 : 120, cuts: isFull ? 20 : 4),
            .refuse(rounds: isFull ? 4 : 1),
            .equal(rounds: isFull ? [1, 7, 20, 33] : [7]),
            .equalRenumbered(rounds: isFull ? [11, 21, 31] : [21]),
            .slow(messages: 40, every: 40),
            .withheld(seconds: isFull ? 35 : 3),
            .badInput(messages: isFull ? 120 : 24),
            .restart(messages: isFull ? 100 : 50),
        ]
    }
}
