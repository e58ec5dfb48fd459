extension Task where Success == Void, Failure == Never {
    /// Waits for the end of the task, also when the one that waits is cancelled: output that nobody reads does not hold up
    /// the end of others, and what somebody reads is written to its end.
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
        // By a task of its own, since a stream ends at once for one that is cancelled.
        await Task { for await _ in end {} }.value
        for side in sides { side.cancel() }
    }
}
