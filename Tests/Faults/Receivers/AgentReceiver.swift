import Foundation
import KiiPushCore
package import KiiPushEmulator
import TestSupport

/// Our own agent, in the program `CountingAgent`.
package struct AgentReceiver: Receiver {
    /// How it is set up, and what its handler does beside counting.
    package struct Settings: Sendable {
        /// `file` or `memory`.
        package var inbox = "file"
        package var usesTLS = false
        package var work = WorkTime.standard
        package var keepAliveSeconds = 60
        package var concurrentHandlers = 4
        /// The message in whose handler the process kills itself.
        package var poison: Int?
        /// Every so many messages one fails at its first attempt.
        package var failsEvery: Int?
        /// Every so many messages one takes so many milliseconds.
        package var slow: (every: Int, milliseconds: Int)?

        package init() {}
    }

    package let name: String
    package let log: String
    package let process: ReceiverProcess
    /// A line for each event that is not about a message.
    package let events: String

    package init(_ settings: Settings, emulator: Emulator, state: String, directory: String, seed: UInt64) {
        self.name = settings.inbox == "file" ? "kii-push" : "kii-push, inbox in memory"
        self.log = "\(directory)/handled.log"
        self.events = "\(directory)/events.log"
        var environment = settings.work.environment
        environment["KII_APP_KEY"] = emulator.appKey.reveal()
        environment["SWIFT_BACKTRACE"] = "enable=no"
        var arguments = [
            "state=\(state)", "log=\(self.log)", "events=\(self.events)", "url=\(emulator.baseURL)",
            "app=\(emulator.appID)", "ca=\(emulator.certificateAuthorityFile)", "inbox=\(settings.inbox)",
            "tls=\(settings.usesTLS ? 1 : 0)", "keepalive=\(settings.keepAliveSeconds)",
            "handlers=\(settings.concurrentHandlers)", "seed=\(seed)",
        ]
        if let poison = settings.poison { arguments.append("poison=\(poison)") }
        if let every = settings.failsEvery { arguments.append("fails=\(every)") }
        if let slow = settings.slow { arguments += ["slow=\(slow.every)", "slow-ms=\(slow.milliseconds)"] }
        self.process = ReceiverProcess(
            program: productsDirectory.appendingPathComponent("CountingAgent").path,
            arguments: arguments,
            environment: environment,
            output: "\(directory)/receiver.out"
        )
    }
}
