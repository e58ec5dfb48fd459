import KiiPushCore

struct EagerUser: NotificationPresenter {
    func present(_ request: NotificationRequest) -> PresentationOutcome {
        print("showing", request.alert.body ?? "", "with sound", request.sound ?? "none")
        // A user who is always there. Mostly this is said later, and by another thread.
        request.respond(.opened(.custom("reply")))
        return .presented
    }
}
