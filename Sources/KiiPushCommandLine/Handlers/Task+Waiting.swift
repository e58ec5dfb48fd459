extension Task where Success == Void, Failure == Never {
    /// Waits until the task ends, but at most for `limit`, even if the caller is cancelled. So unread output cannot
    /// delay shutdown for longer than `limit`.
    package func wait(atMost limit: Duration) async {
        let (end, continuation) = AsyncStream.makeStream(of: Void.self)
        let sides = [
            Task {
                await self.value
                continuation.finish()
            },
            Task {
                try? await Task<Never, Never>.sleep(for: limit)
                continuation.finish()
            },
        ]
        // A separate task, because a cancelled task cannot wait for a stream.
        await Task { for await _ in end {} }.value
        for side in sides { side.cancel() }
    }
}
