import Foundation
import Glibc
package import KiiPushCore
package import KiiPushEmulator
import TestSupport

/// Our own agent, in the program `CountingAgent`.
package struct AgentReceiver: Receiver {
    /// How it is set up, and what its handler does beside counting.
    package struct Settings: Sendable {
        /// `file` or `memory`.
        package var inbox = "file"
        package var usesTLS = false
        package var usesWebSocket = false
        package var work = WorkTime.standard
        package var keepAliveSeconds = 60
        package var concurrentHandlers = 4
        /// The message in whose handler the process kills itself.
        package var poison: Int?
        /// Every so many messages one fails at its first attempt.
        package var failsEvery: Int?
        /// Every so many messages one takes so many milliseconds.
        package var slow: (every: Int, milliseconds: Int)?
        /// Whether it does so only when it is handled first: it is to be killed in the middle, and then to go on.
        package var slowsOnce = false
        /// Whether the inbox's commits are flushed, as is promised.
        package var flushesCommits = true
        /// Whether a program is started for each message.
        package var startsPrograms = false
        /// The most files that may be open.
        package var maximumFiles: Int?
        /// Whether its calendar is what ``AgentReceiver/setCalendar(ahead:)`` says.
        package var followsCalendar = false
        /// Whether its handlers never answer, so that nothing is ever done.
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
    /// A line for each event that is not about a message.
    package let events: String
    private let calendar: String
    /// What its state is on, where that can lose its power.
    private let disk: PowerDisk?

    /// Where the disk can lose its power, it does so: what was not flushed is forgotten.
    package func signalKill() {
        // Where it takes no orders it is dead already.
        try? self.disk?.cut()
        self.process.signalKill()
    }

    package func kill() async throws {
        guard let disk else { return await self.process.kill() }
        self.signalKill()
        // Before the process can end, what it waits for has to.
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

    /// What the agent told of itself, a line each.
    package var told: [String] {
        ((try? String(contentsOfFile: self.events, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
    }

    /// The cloud that the agent is told of.
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

        /// None: the agent lives on what ``AgentStateFixture`` wrote.
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
