import Foundation
import Glibc
import KiiPushCore
import KiiPushEmulator
import TestSupport
import Testing

/// A message that the broker delivered is handled, however often the process is killed.
@Suite(.serialized) struct KillTests {
    @Test(.timeLimit(.minutes(15)), arguments: [("file", 2000, 20), ("memory", 500, 5)])
    func nothingIsLostToKill9(inbox: String, messages: Int, kills: Int) async throws {
        try await withEmulator { emulator, directory in
            let agent = CountingProcess(emulator: emulator, directory: directory, inbox: inbox)
            let user = try await agent.register()
            try await emulator.send(1...messages, toUser: user)
            for kill in 1...kills {
                try agent.start()
                // Killed in the middle of the work: between the line that begins a message and the one that ends it.
                try await agent.waitForHandler(afterEnded: messages * kill / (kills + 1))
                agent.kill()
            }
            try agent.start()
            let log = try await agent.waitForAll(messages)
            await agent.stop()

            let lost = Set(1...messages).subtracting(log.ended)
            let twice = log.endedCount - log.ended.count
            print(
                "kill -9 (\(inbox) inbox): \(messages) messages, \(kills) kills, \(lost.count) lost, "
                    + "\(twice) handled twice, \(log.interrupted) interrupted and begun again")
            #expect(lost.isEmpty)
            // A kill interrupts at most what ran at once; what was interrupted is begun again.
            #expect(log.interrupted > 0)
        }
    }
}
