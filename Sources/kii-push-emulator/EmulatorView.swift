import KiiPushCommandLine
import KiiPushCore
import KiiPushEmulator

/// Shows the activity on its own thread, since the reader of the output may be slow.
final class EmulatorView: Sendable {
    /// `true` when all is shown, `false` when the patience is over.
    private let end = OneShot<Bool>()

    init(_ emulator: Emulator, on console: Console) throws {
        let (log, root) = (emulator.activity, "/api/apps/\(emulator.appID)")
        log.follow()
        try OSThread(name: "kii-view") { [end] in
            EmulatorView.show(log, root: root, on: console)
            end.resume(true)
        }.detach()
    }

    func hasEnded(within patience: Duration) async -> Bool {
        Task { [end] in
            try? await Task.sleep(for: patience)
            end.resume(false)
        }
        return await self.end.value()
    }

    private static func show(_ log: ActivityLog, root: String, on console: Console) {
        var last: Int64 = 0
        while let activities = log.next(after: last) {
            do {
                if let first = activities.first, first.sequence > last + 1 {
                    console.warning("\(first.sequence - last - 1) are left out: the output is too slow")
                }
                for activity in activities { try console.show(activity, root: root) }
                try StandardStream.output.waitUntilWritten()
            } catch SilentExit.unreadOutput {
                return
            } catch SilentExit.brokenPipe {
                return console.warning("nobody reads the output any more; going on without it")
            } catch {
                return console.warning("the output cannot be written any more; going on without it: \(error)")
            }
            last = activities.last?.sequence ?? last
        }
    }
}
