/// One call of a handler.
struct HandlerCall {
    let call: DeliveryCall
    let position: Int
    let deadline: MonotonicInstant
    let box: AnswerBox
    let queue: CallQueue

    /// Calls what is to be called. The completion is let go of before this returns, unless the handler keeps it.
    ///
    /// - Returns: the task of an asynchronous handler, which may be over already.
    func invoke() -> Task<Void, Never>? {
        let message = self.call.messages[self.position]
        let completion = FetchCompletion(
            self.box, AnswerTicket(sequence: message.sequence, call: self.call.id, position: self.position))
        // Without an attachment there is nobody to call: letting go of the completion has it tried again.
        guard let attachment = self.call.attachment else { return nil }
        let context = DeliveryContext(
            installationID: attachment.id,
            messageID: message.sequence,
            receivedAt: message.receivedAt,
            attempt: message.attempts + 1,
            state: attachment.receiver.state(of: message),
            userAction: message.openedBy,
            deadlineInstant: self.deadline
        )
        switch message.content {
        case .message(let message):
            switch attachment.receiver.route(message, context: context) {
            case .handler: return self.call(attachment.form, message, context, completion)
            case .show(let body, let isForHandler):
                guard let isShown = self.box.present(self.call.id, body) else { return nil }
                guard isShown, !isForHandler else {
                    return self.call(attachment.form, message, context, completion)
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
        _ form: HandlerForm, _ message: ReceivedMessage, _ context: DeliveryContext, _ completion: FetchCompletion
    ) -> Task<Void, Never>? {
        switch form {
        case .completion(let handler):
            handler.didReceiveRemoteNotification(message, context: context, fetchCompletionHandler: completion)
        case .plain(let form):
            form.call(message)
            completion(.newData)
        case .none: completion.fail(NoHandlerForm())
        case .async(let handler):
            let (id, box, queue) = (self.call.id, self.box, self.queue)
            // It starts on this thread, so a handler that does not suspend costs no hop. The box owns it and cancels
            // it; its failure is the message's.
            return Task.immediate {
                do {
                    completion(try await handler.didReceiveRemoteNotification(message, context: context))
                } catch {
                    completion.fail(error)
                }
                if box.taskEnded(id) { queue.leave() }
            }
        }
        return nil
    }
}
