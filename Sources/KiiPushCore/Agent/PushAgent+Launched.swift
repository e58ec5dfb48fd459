extension PushAgent {
    /// Where messages come from in a process that an ``Activator`` started; `nil` in any other.
    func launchChannel() throws(PushAgentError) -> LaunchChannel? {
        do throws(LaunchError) {
            return try self.launch.get()
        } catch {
            throw .launch(reason: error.description)
        }
    }

    /// Receives from the ``Activator`` that started this process, until it is cancelled or the activator ends.
    func receiveFromLauncher(_ channel: LaunchChannel) async throws {
        guard channel.take() else { throw PushAgentError.launchTaken }
        let store = LaunchStore(channel)
        var configuration = self.runtime.configuration.delivery
        // An attempt that fails is its last one here: the activator's agent knows when the next one is due.
        configuration.retryDelays = []
        configuration.totalLimit = nil
        let hubs = Locked<[Int64: EventHub]>([:])
        let runner = DeliveryRunner(
            configuration: configuration, store: store, observer: HubObserver(hubs: hubs, keeping: .launcher))
        let reception = LaunchReception(
            channel: channel, store: store, runner: runner, receiver: self.receiver, lifecycle: self.lifecycle,
            attached: { [hub] key in hubs.withLock { $0[key] = hub } })
        let ended = OneShot<LaunchError?>()
        // Before any answer: an exit status would be taken for the answer to the first message otherwise.
        channel.send(.ready(configuration.concurrentHandlers))
        try DeliveryThread(name: "kii-launch") { ended.resume(reception.run()) }.detach()
        async let _ = self.tellStates(channel)
        let error = await withTaskCancellationHandler {
            await ended.value()
        } onCancel: {
            ended.resume(nil)
        }
        await runner.drain(until: runner.now + self.runtime.configuration.shutdownGrace)
        runner.shutdown()
        // What was not started, or did not come to its end: the activator need not wait.
        for sequence in store.openMessages { channel.send(.verdict(id: sequence, .result(.failed))) }
        channel.close()
        if let error { throw PushAgentError.launch(reason: error.description) }
    }
}

extension PushAgent {
    /// Reports where the program stands, whenever that changes, until it is cancelled.
    private func tellStates(_ channel: LaunchChannel) async {
        guard let lifecycle else { return }
        for await state in lifecycle.states { channel.send(.state(state)) }
    }
}

/// Hands the messages of an ``Activator`` to delivery, in their order.
private final class LaunchReception: Sendable {
    private let channel: LaunchChannel
    private let store: LaunchStore
    private let runner: DeliveryRunner
    private let receiver: any Receiver
    private let lifecycle: AgentLifecycle?
    private let attached: @Sendable (Int64) -> Void

    init(
        channel: LaunchChannel, store: LaunchStore, runner: DeliveryRunner, receiver: any Receiver,
        lifecycle: AgentLifecycle?, attached: @escaping @Sendable (Int64) -> Void
    ) {
        self.channel = channel
        self.store = store
        self.runner = runner
        self.receiver = receiver
        self.lifecycle = lifecycle
        self.attached = attached
    }

    /// Returns when no more messages come; with an error when what comes is none.
    func run() -> LaunchError? {
        // Nearly always there is one installation; the agent over there may move to another.
        var keys: [String: Int64] = [:]
        // A further attempt to deliver what the user opened is no second opening.
        var opened: Set<NotificationRequest.ID> = []
        var message: ActivationMessage? = self.channel.first
        do throws(LaunchError) {
            while let current = message {
                let key = keys[current.installationID] ?? Int64(keys.count + 1)
                if keys.updateValue(key, forKey: current.installationID) == nil {
                    self.attached(key)
                    self.runner.attach(installation: key, id: current.installationID, receiver: self.receiver)
                }
                let id = NotificationRequest.ID(installationID: current.installationID, messageID: current.id)
                if current.userAction?.opensProgram == true, opened.insert(id).inserted {
                    self.bringForward(current)
                }
                self.deliver(current, key)
                message = try self.channel.next()
            }
            return nil
        } catch {
            return error
        }
    }

    /// The user opened the message where it was shown; the program comes to the foreground before it gets the message. On
    /// iOS `willEnterForeground` comes first, too, and then the reception in state inactive.
    private func bringForward(_ message: ActivationMessage) {
        // What cannot be decoded reaches no handler either.
        guard let decoded = try? ReceivedMessage(payload: message.payload) else { return }
        self.lifecycle?.userOpens(decoded)
    }

    private func deliver(_ message: ActivationMessage, _ key: Int64) {
        let stored = StoredMessage(
            sequence: message.id, installation: key, topic: "", payload: message.payload,
            receivedAt: message.receivedAt, attempts: message.attempt - 1, openedBy: message.userAction,
            answerBy: self.runner.now + message.timeRemaining)
        // What delivery has no room for now it reads from the store: it is there before delivery is asked.
        self.store.add(stored)
        guard self.runner.reserve(1, installation: key, bytes: { _ in stored.bytes }) == 1 else {
            return self.runner.withheldIsStored()
        }
        if self.store.take(stored.sequence) {
            self.runner.deliver([stored])
        } else {
            self.runner.release(self.runner.weight(of: stored.bytes))
        }
    }
}
