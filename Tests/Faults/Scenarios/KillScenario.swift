/// The receiver is killed with SIGKILL in the middle of its work, again and again, while a queue waits at the broker.
package struct KillScenario: Sendable {
    package var messages: Int
    package var kills: Int

    package init(messages: Int, kills: Int) {
        self.messages = messages
        self.kills = kills
    }

    func run(_ play: inout Play) async throws -> String {
        try await play.send(1...self.messages)
        var (kills, interrupted) = (0, 0)
        for kill in 1...self.kills {
            try play.receiver.start()
            let stride = self.messages / (self.kills + 1)
            let threshold = stride * kill - Int.random(in: 0..<max(1, stride / 2), using: &play.random)
            // A receiver that has nothing left to do, because it has lost the rest, cannot be killed at its work.
            guard try await play.observation.waitForHandler(afterEnded: threshold) else { break }
            if await play.observation.kill() > 0 { interrupted += 1 }
            kills += 1
            try play.auditLedger()
        }
        if !play.receiver.isRunning { try play.receiver.start() }
        try await play.finish()
        return "\(kills) kill -9, \(interrupted) amid work"
    }
}
