import KiiPushCore
import TestSupport
import Testing

extension PresentationTests {
    /// Kii's own cloud sends no `aps` over MQTT. The presenter makes the alert, and routing treats the message as one
    /// with an alert.
    @Test(arguments: [Storage.file, .memory])
    func aPresenterMakesAnAlertFromAMessageWithoutOne(storage: Storage) async throws {
        try await self.withStage(storage) { stage in
            let handler = RecordingHandler()
            let presenter = RecordingPresenter(alert: { message in
                message["msg"]?.string.map { NotificationAlert(title: "Kitchen", body: $0) }
            })
            let agent = stage.agent(handler, presenter)
            let events = agent.events
            try await whileRunning(agent) {
                let kept = try await stage.send(#"{"n":1,"msg":"Dinner is ready"}"#, #"{"n":2}"#)
                let request = try #require(await presenter.next())
                #expect(request.key.messageID == 1)
                #expect(request.alert == NotificationAlert(title: "Kitchen", body: "Dinner is ready"))
                // Like every message without `aps`, it goes to the handler too.
                #expect(await handler.next(2).map(\.context.messageID).sorted() == [1, 2])
                await self.happens(.done(.newData, attempt: 1, isLate: false), in: events)
                #expect(request.respond(.opened(.open)))
                let call = try #require(await handler.next(1).first)
                #expect(call.context.messageID == 1)
                #expect(call.context.isUserOpened)
                withExtendedLifetime(kept) {}
            }
        }
    }
}
