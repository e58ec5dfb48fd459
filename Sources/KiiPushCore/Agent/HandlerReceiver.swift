/// Sends every message to the handler: what an agent without states of its own does.
struct HandlerReceiver: Receiver {
    let handler: any NotificationHandler

    init(_ handler: any NotificationHandler) { self.handler = handler }
}
