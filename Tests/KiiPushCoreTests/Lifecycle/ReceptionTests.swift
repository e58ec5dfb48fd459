import TestSupport
import Testing

@testable import KiiPushCore

@Suite struct ReceptionTests {
    /// The fate of a message that arrives in this state, in a word.
    private func route(_ state: LifecycleState, _ message: ReceivedMessage) -> String {
        let lifecycle = AgentLifecycle(state: state)
        let receiver = ReceptionReceiver(
            handler: ClosureHandler { _, _, completion in completion(.newData) }, lifecycle: lifecycle,
            desk: PresentationDesk(presenter: RecordingPresenter(), lifecycle: lifecycle), applyBadge: { _, _ in })
        let context = DeliveryContext(installationID: "a", messageID: 1, receivedAt: .at(5), attempt: 1, state: state)
        return switch receiver.route(message, context: context) {
        case .handler: "handler"
        case .nobody: "nobody"
        case .show(_, isForHandler: true): "handlerAndAlert"
        case .show(_, isForHandler: false): "alert"
        case .invoke: "action"
        }
    }

    private func route(_ state: LifecycleState, contentAvailable: Bool, alert: Bool) throws -> String {
        let members = (alert ? [#""alert":"Dinner""#] : []) + (contentAvailable ? [#""content-available":1"#] : [])
        let payload = #"{"aps":{\#(members.joined(separator: ","))}}"#
        return self.route(state, try ReceivedMessage(payload: Array(payload.utf8)))
    }

    /// A program that does not run is started by its handler, which is an activator.
    @Test func theWholeTable() throws {
        var lines = ["state       content-available  alert  route"]
        for state in [LifecycleState.active, .inactive, .background, .notRunning] {
            for (contentAvailable, alert) in [(true, true), (true, false), (false, true), (false, false)] {
                let route = try self.route(state, contentAvailable: contentAvailable, alert: alert)
                let cells = [
                    (state.rawValue, 12), (contentAvailable ? "set" : "not set", 19), (alert ? "yes" : "no", 7),
                ]
                let row = cells.map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined()
                lines.append("\(row)\(route)")
            }
        }
        let table = lines.joined(separator: "\n")
        print(table)
        #expect(
            table == """
                state       content-available  alert  route
                active      set                yes    handler
                active      set                no     handler
                active      not set            yes    handler
                active      not set            no     handler
                inactive    set                yes    handler
                inactive    set                no     handler
                inactive    not set            yes    handler
                inactive    not set            no     handler
                background  set                yes    handlerAndAlert
                background  set                no     handler
                background  not set            yes    alert
                background  not set            no     nobody
                notRunning  set                yes    handler
                notRunning  set                no     handler
                notRunning  not set            yes    handler
                notRunning  not set            no     handler
                """)
    }

    @Test(arguments: [
        (#"{"topic":"t"}"#, true, false),
        (#"{"aps":{}}"#, false, false),
        (#"{"aps":{"badge":1,"sound":"default"}}"#, false, false),
        (#"{"aps":{"alert":"Dinner"}}"#, false, true),
        (#"{"aps":{"alert":""}}"#, false, false),
        (#"{"aps":{"alert":{"title":"Dinner"}}}"#, false, true),
        (#"{"aps":{"alert":{"show-view":false}}}"#, false, false),
        (#"{"aps":{"alert":"Dinner","content-available":1}}"#, true, true),
        (#"{"aps":{"content-available":true}}"#, true, false),
        (#"{"aps":{"content-available":0}}"#, false, false),
    ])
    func whatAPayloadCountsAs(payload: String, isContentAvailable: Bool, hasAlert: Bool) throws {
        let message = try ReceivedMessage(payload: Array(payload.utf8))
        // In the background each of the four has a route of its own.
        let route = try self.route(.background, contentAvailable: isContentAvailable, alert: hasAlert)
        #expect(self.route(.background, message) == route)
    }
}
