/// Whom the messages of one installation go to, and how.
final class DeliveryAttachment: Sendable {
    let id: String
    let receiver: any Receiver
    let form: HandlerForm
    let commandHandler: (any ThingCommandHandler)?

    init(id: String, receiver: any Receiver) {
        self.id = id
        self.receiver = receiver
        self.form = HandlerForm(receiver.handler)
        self.commandHandler = receiver.handler as? any ThingCommandHandler
    }
}
