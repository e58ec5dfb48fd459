import KiiPushCore

struct EagerUser: NotificationPresenter {
    func present(_ request: NotificationRequest) -> PresentationOutcome {
        print("showing", request.alert.body ?? "", "with sound", request.sound ?? "none")
        // This user answers at once. Usually the answer comes later, on another thread.
        request.respond(.opened(.custom("reply")))
        return .presented
    }
}
