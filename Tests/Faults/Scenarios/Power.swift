import KiiPushCore
import TestSupport

extension Scenario {
    private static let setup = {
        var setup = FaultBench.Setup()
        setup.disk = .forgetful
        return setup
    }()

    /// - Parameters:
    ///   - cuts: the number of cuts while handlers work and messages arrive.
    ///   - step: the power is cut on purpose at one in this many flushes or writes.
    ///   - damages: the damages whose replacement is cut.
    static func power(messages: Int, cuts: Int, step: Int, damages: [InboxDamage]) -> Scenario {
        Scenario(
            "power",
            "the power is cut amid work, and on purpose at flushes and writes; the disk forgets what was not flushed",
            on: self.setup
        ) { play in
            try await play.receiveFirst()
            let kills = try await play.killAgainAndAgain(messages: messages, kills: cuts) { try await $0.publish($1) }
            let purposes = try await play.cutOnPurpose(step: step, damages: damages)
            try play.expectDamagedLetters()
            try play.receiver.start()
            try await play.finishAfterLast()
            let all = play.bench.powerDisk?.cuts ?? 0
            return "\(all) cuts, \(kills.moments), \(purposes), \(play.toldAsLost) told as lost"
        }
    }

    /// Without flushes, messages have to be lost. If none is lost, the disk forgets nothing, and `power` proves
    /// nothing.
    static func powerWithoutFlushes(messages: Int, cuts: Int) -> Scenario {
        var settings = AgentReceiver.Settings()
        settings.flushesCommits = false
        return Scenario(
            "power-normal",
            "the same without a flush at each commit, which has to lose messages: else `power` shows nothing",
            with: .agent(settings), on: self.setup, controlling: "power"
        ) { play in
            try await play.receiveFirst()
            for cut in 0..<cuts {
                let share = messages / cuts
                try play.receiver.start()
                try await play.publish(cut * share + 1...(cut + 1) * share)
                // After few messages: a checkpoint flushes the whole log.
                let few = play.observation.log.endedCount + 5
                play.expect(try await play.observation.waitForHandler(afterEnded: few), "no progress")
                _ = try await play.observation.kill()
            }
            try play.receiver.start()
            try await play.finishAfterLast()
            return "\(play.bench.powerDisk?.cuts ?? 0) cuts"
        }
    }
}
