import KiiPushCore

struct DinnerHandler: AsyncRemoteNotificationHandler {
    func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext
    ) async throws -> FetchResult {
        print("handling", message.kind, message["msg"]?.string ?? "")
        return .newData
    }
}

func makeAgent(_ runtime: PushRuntime, _ app: KiiApp) -> PushAgent {
    let account = KiiAccount.user(name: "tourist", password: "not a secret", createsIfMissing: true)
    let configuration = PushAgent.Configuration(name: "tour", app: app, account: account)
    return PushAgent(runtime: runtime, configuration: configuration, handler: DinnerHandler())
}

func receive(_ count: Int, with agent: PushAgent) async throws {
    let events = agent.events
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await agent.run() }
        group.addTask { await watch(events, until: count) }
        try await group.next()
        group.cancelAll()
    }
}

func watch(_ events: AsyncStream<PushEvent>, until count: Int) async {
    var done = 0
    for await event in events {
        switch event {
        case .connected(let connection): print("connected to", connection.host)
        case .disconnected(let reason, let delay): print("again in \(delay):", reason)
        case .message(let message):
            if case .done = message.kind { done += 1 }
        default: break
        }
        if done == count { return }
    }
}

func decideAboutDeadLetters(_ runtime: PushRuntime) async throws {
    var count = 0
    for try await letter in runtime.deadLetters() {
        count += 1
        guard case .dead(let reason) = letter.state else { continue }
        print("given up on", letter.messageID, "after", letter.attempts, "attempts:", reason)
        switch reason {
        case .attemptsFailed(.threw): try await runtime.retryDeadLetter(letter.messageID)
        case .undecodable: try await runtime.dropDeadLetter(letter.messageID)
        default: break
        }
    }
    print("dead letters:", count)
}
