/// One call of a handler.
struct HandlerCall {
    let message: DecodedMessage
    let attempt: Int
    let deadline: MonotonicInstant
    /// The gate's number of it.
    let serial: Int
    /// The claim that it belongs to.
    let call: Int

    /// Calls what is to be called. The completion is let go of before this returns, unless the handler keeps it.
    ///
    /// - Returns: the task of an asynchronous handler, which may be over already.
    func invoke(_ attachment: DeliveryAttachment?, _ gate: CallGate) -> Task<Void, Never>? {
        let completion = FetchCompletion(
            gate, AnswerTicket(key: self.message.key, call: self.call, serial: self.serial))
        // Without an attachment there is nobody to call: letting go of the completion has it tried again.
        guard let attachment else { return nil }
        let context = DeliveryContext(
            installationID: attachment.id,
            messageID: self.message.sequence,
            receivedAt: self.message.receivedAt,
            attempt: self.attempt,
            state: attachment.receiver.state(of: self.message),
            userAction: self.message.openedBy,
            deadlineInstant: self.deadline
        )
        switch self.message.content {
        case .message(let message):
            switch attachment.receiver.route(message, context: context) {
            case .handler: return self.call(attachment.form, message, context, completion, gate)
            case .show(let body, let isForHandler):
                guard let isShown = gate.present(self.serial, body) else { return nil }
                guard isShown, !isForHandler else {
                    return self.call(attachment.form, message, context, completion, gate)
                }
                completion.present()
            case .nobody: completion.reachNobody()
            case .invoke(let body): body(completion)
            }
        case .command(let command):
            attachment.commandHandler?.didReceiveThingCommand(
                command, context: context, fetchCompletionHandler: completion)
        }
        return nil
    }

    private func call(
        _ form: HandlerForm, _ message: ReceivedMessage, _ context: DeliveryContext, _ completion: FetchCompletion,
        _ gate: CallGate
    ) -> Task<Void, Never>? {
        switch form {
        case .completion(let handler):
            handler.didReceiveRemoteNotification(message, context: context, fetchCompletionHandler: completion)
        case .plain(let form):
            form.call(message)
            completion(.newData)
        case .none: completion.fail(NoHandlerForm())
        case .async(let handler):
            let (serial, call) = (self.serial, self.call)
            // It starts on this thread, so a handler that does not suspend costs no hop. The core owns it and cancels
            // it; its failure is the message's.
            return Task.immediate {
                do {
                    completion(try await handler.didReceiveRemoteNotification(message, context: context))
                } catch {
                    completion.fail(error)
                }
                gate.asyncCallEnded(serial, call)
            }
        }
        return nil
    }
}
