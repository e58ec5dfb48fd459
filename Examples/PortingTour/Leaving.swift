import KiiPushCore

func unsubscribe(from topic: Topic, as session: KiiSession) async throws -> Bool {
    // checkIsSubscribedSynchronous:error: returns NO on an error. isSubscribed(to:) throws.
    guard try await session.isSubscribed(to: .topic(topic)) else { return false }
    try await session.unsubscribe(from: .topic(topic))
    return true
}

func logOut(_ agent: PushAgent) async throws {
    // uninstallSynchronousWithDeviceToken:andError:. Call it after run() has returned, since run() registers again.
    guard let registration = try agent.registration() else { return }
    try await agent.session().deleteInstallation(.id(registration.installationID))
}
