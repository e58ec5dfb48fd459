import KiiPushCore

func startLifecycle(_ options: LaunchOptions) -> AgentLifecycle {
    let lifecycle = AgentLifecycle(launchOptions: options)
    lifecycle.onForegroundRequest { message in
        print("to the front for", message.content?.alert?.body ?? "")
        // Show the window here, then:
        lifecycle.didBecomeActive()
    }
    return lifecycle
}

func makeAgent(
    _ runtime: PushRuntime, _ configuration: PushAgent.Configuration, _ lifecycle: AgentLifecycle
) -> PushAgent {
    PushAgent(
        runtime: runtime, configuration: configuration, handler: DinnerHandler(), lifecycle: lifecycle,
        presenter: EagerUser())
}

func windowWasHidden(_ lifecycle: AgentLifecycle) {
    lifecycle.willResignActive()
    lifecycle.didEnterBackground()
}

func showBadge(of agent: PushAgent, untilOpened events: AsyncStream<PushEvent>) async {
    var opened: Int64?
    for await event in events {
        guard case .message(let message) = event else { continue }
        if case .opened = message.kind { opened = message.messageID }
        if case .done = message.kind, message.messageID == opened { break }
    }
    print("badge", agent.badge ?? 0)
}
