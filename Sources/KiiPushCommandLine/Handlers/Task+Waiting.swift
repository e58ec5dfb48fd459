extension Task where Success == Void, Failure == Never {
    /// Waits until the task ends, or until `limit` is over, even in a cancelled caller. Unread output then delays
    /// shutdown by `limit` at most, and a reader that keeps up gets all of it.
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
        // A separate task, since a stream ends at once in a cancelled one.
        await Task { for await _ in end {} }.value
        for side in sides { side.cancel() }
    }
}
