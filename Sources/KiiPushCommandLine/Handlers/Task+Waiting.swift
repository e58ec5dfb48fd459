import KiiPushCore

extension Task where Success == Void, Failure == Never {
    /// Waits until the task ends, but at most for `limit`, even if the caller is cancelled. So unread output cannot
    /// delay shutdown for longer than `limit`.
    package func wait(atMost limit: Duration) async {
        let end = OneShot<Void>()
        let sides = [
            Task {
                await self.value
                end.resume(())
            },
            Task {
                try? await Task<Never, Never>.sleep(for: limit)
                end.resume(())
            },
        ]
        // A cancellation of the caller does not end this wait.
        await end.value()
        for side in sides { side.cancel() }
    }
}
