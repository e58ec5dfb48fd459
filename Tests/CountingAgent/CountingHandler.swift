import Glibc
import KiiPushCore

/// Counts messages, works, and fails or dies where the test asks for it.
struct CountingHandler: RemoteNotificationHandler {
    private let log: AppendedFile
    private let work: ClosedRange<UInt64>
    private let poison: Int64?
    private let failsEvery: Int64?
    private let slow: (every: Int64, microseconds: UInt64)?
    /// Prefix of the paths of marker files, one for each slow message, so that the next process is not slow with it.
    private let slowOnce: String?
    private let seed: UInt64
    private let held: Locked<[FetchCompletion]>?

    init(log: AppendedFile, options: Options) {
        self.log = log
        let shortest = CountingHandler.variable("WORK_MIN_US") ?? 500
        self.work = shortest...max(shortest, CountingHandler.variable("WORK_MAX_US") ?? 3000)
        self.poison = options.number("poison").map(Int64.init)
        self.failsEvery = options.number("fails").map(Int64.init)
        self.slow = options.number("slow").map { (Int64($0), UInt64(options.number("slow-ms") ?? 0) * 1000) }
        self.slowOnce = options.text("slow-once")
        self.held = options.number("holds") == 1 ? Locked([]) : nil
        self.seed = UInt64(options.number("seed") ?? 1)
    }

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage,
        context: DeliveryContext,
        fetchCompletionHandler completion: FetchCompletion
    ) {
        let number = message.rawPayload["n"]?.int64 ?? -1
        // The work is chosen before the line is logged, because a test may kill the process as soon as it reads the
        // line.
        let work = self.microseconds(number, context)
        self.log.append("began \(number) \(context.messageID)\n")
        if let held { return held.withLock { $0.append(completion) } }
        if number == self.poison { kill(getpid(), SIGKILL) }
        // The test may kill the process during this sleep.
        usleep(useconds_t(work))
        if let every = self.failsEvery, number % every == 0, context.attempt == 1 {
            completion(.failed)
            return
        }
        self.log.append("ended \(number) \(context.messageID)\n")
        completion(.newData)
    }

    /// A hash of the seed and the message, so that the result does not depend on earlier messages.
    private func microseconds(_ number: Int64, _ context: DeliveryContext) -> UInt64 {
        if let slow, number % slow.every == 0, self.isToBeSlow(number) { return slow.microseconds }
        var mixed = self.seed &+ UInt64(bitPattern: context.messageID) &* 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 31)) &* 0x94D0_49BB_1331_11EB
        return self.work.lowerBound + (mixed >> 32) % (self.work.upperBound - self.work.lowerBound + 1)
    }

    private func isToBeSlow(_ number: Int64) -> Bool {
        guard let slowOnce else { return true }
        let descriptor = open("\(slowOnce).\(number)", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return false }
        close(descriptor)
        return true
    }

    private static func variable(_ name: String) -> UInt64? {
        getenv(name).flatMap { UInt64(String(cString: $0)) }
    }
}
