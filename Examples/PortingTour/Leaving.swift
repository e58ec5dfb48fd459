import KiiPushCore

func unsubscribe(from topic: Topic, as session: KiiSession) async throws -> Bool {
    // checkIsSubscribedSynchronous:error:, which here throws instead of saying no to everything
    guard try await session.isSubscribed(to: .topic(topic)) else { return false }
    try await session.unsubscribe(from: .topic(topic))
    return true
}

func logOut(_ agent: PushAgent) async throws {
    // uninstallSynchronousWithDeviceToken:andError:, when run() has returned: it would make the installation again.
    guard let registration = try agent.registration() else { return }
    try await agent.session().deleteInstallation(.id(registration.installationID))
}
