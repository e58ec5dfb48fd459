import Foundation
import Glibc
package import KiiPushCore
package import KiiPushEmulator
import TestSupport

/// This project's agent, in the program `CountingAgent`.
package struct AgentReceiver: Receiver {
    package struct Settings: Sendable {
        package var inbox = "file"
        package var usesTLS = false
        package var usesWebSocket = false
        package var work = WorkTime.standard
        package var keepAliveSeconds = 60
        package var concurrentHandlers = 4
        /// The message whose handler kills the process.
        package var poison: Int?
        /// One message in this many fails at its first attempt.
        package var failsEvery: Int?
        /// One message in `every` takes this many milliseconds.
        package var slow: (every: Int, milliseconds: Int)?
        /// Whether a message is slow only at its first handling: the test kills the process then, and the next one
        /// continues.
        package var slowsOnce = false
        /// Whether the inbox flushes its commits, which is its default.
        package var flushesCommits = true
        /// Whether the agent starts a program for each message.
        package var startsPrograms = false
        /// Limit of open files.
        package var maximumFiles: Int?
        /// Whether ``AgentReceiver/setCalendar(ahead:)`` sets the agent's calendar.
        package var followsCalendar = false
        /// Whether handlers never answer, so that every message stays open.
        package var holds = false

        package init() {}

        var title: String {
            if self.inbox == "memory" { return "kii-push, inbox in memory" }
            return self.flushesCommits ? "kii-push" : "kii-push, synchronous=NORMAL"
        }
    }

    package let name: String
    package let log: String
    package let process: ReceiverProcess
    /// File with a line for each event that is not about a message.
    package let events: String
    private let calendar: String
    /// The disk with its state, if the disk's power can be cut.
    private let disk: PowerDisk?

    /// Kills the process. First cuts the power of its disk, if it has one, which drops unflushed writes.
    package func signalKill() {
        // A disk without power accepts no orders.
        try? self.disk?.cut()
        self.process.signalKill()
    }

    package func kill() async throws {
        guard let disk else { return await self.process.kill() }
        self.signalKill()
        // A process that waits for the disk cannot end before the disk does.
        disk.turnOff()
        await self.process.kill()
        try await disk.turnOn()
    }

    /// Sets the calendar clock of the process, also while it runs.
    package func setCalendar(ahead seconds: Int64) throws {
        let descriptor = open(self.calendar, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(descriptor) }
        var seconds = seconds
        guard pwrite(descriptor, &seconds, MemoryLayout<Int64>.size, 0) == MemoryLayout<Int64>.size else {
            throw FaultError("cannot write \(self.calendar): errno \(errno)")
        }
    }

    /// The agent's events, a line each.
    package var told: [String] {
        ((try? String(contentsOfFile: self.events, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
    }

    /// The cloud in the agent's configuration.
    package struct Cloud: Sendable {
        package var baseURL: String
        package var appID: String
        package var appKey: Secret
        package var certificateAuthorityFile: String

        package init(_ emulator: Emulator) {
            self.baseURL = emulator.baseURL
            self.appID = emulator.appID
            self.appKey = emulator.appKey
            self.certificateAuthorityFile = emulator.certificateAuthorityFile
        }

        private init() {
            self.baseURL = AgentStateFixture.app.baseURL
            self.appID = AgentStateFixture.app.appID
            self.appKey = AgentStateFixture.app.appKey
            self.certificateAuthorityFile = "/dev/null"
        }

        /// No cloud: the agent uses the state that ``AgentStateFixture`` wrote.
        package static let nowhere = Cloud()
    }

    init(
        _ settings: Settings, cloud: Cloud, state: String, on disk: PowerDisk?, directory: String, seed: UInt64
    ) {
        self.disk = disk
        self.name = settings.title
        self.log = "\(directory)/handled.log"
        self.events = "\(directory)/events.log"
        var environment = settings.work.environment
        environment["KII_APP_KEY"] = cloud.appKey.reveal()
        environment["SWIFT_BACKTRACE"] = "enable=no"
        var arguments = [
            "state=\(state)", "log=\(self.log)", "events=\(self.events)", "url=\(cloud.baseURL)",
            "app=\(cloud.appID)", "ca=\(cloud.certificateAuthorityFile)", "inbox=\(settings.inbox)",
            "tls=\(settings.usesTLS ? 1 : 0)", "websocket=\(settings.usesWebSocket ? 1 : 0)",
            "keepalive=\(settings.keepAliveSeconds)",
            "handlers=\(settings.concurrentHandlers)", "seed=\(seed)",
        ]
        if let poison = settings.poison { arguments.append("poison=\(poison)") }
        if let every = settings.failsEvery { arguments.append("fails=\(every)") }
        if let slow = settings.slow { arguments += ["slow=\(slow.every)", "slow-ms=\(slow.milliseconds)"] }
        if settings.slowsOnce { arguments.append("slow-once=\(directory)/slow") }
        if !settings.flushesCommits { arguments.append("flushes=0") }
        if settings.holds { arguments.append("holds=1") }
        if settings.startsPrograms { arguments.append("programs=1") }
        if let files = settings.maximumFiles { arguments.append("files=\(files)") }
        self.calendar = "\(directory)/calendar"
        if settings.followsCalendar { arguments.append("calendar=\(self.calendar)") }
        self.process = ReceiverProcess(
            program: productsDirectory.appendingPathComponent("CountingAgent").path,
            arguments: arguments,
            environment: environment,
            output: "\(directory)/receiver.out"
        )
    }
}
