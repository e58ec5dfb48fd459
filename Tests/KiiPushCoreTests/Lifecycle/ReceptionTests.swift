import KiiPushCore
import Testing

@Suite struct ReceptionTests {
    private func route(_ state: LifecycleState, contentAvailable: Bool, alert: Bool) -> ReceptionRoute {
        ReceptionRoute(in: state, isContentAvailable: contentAvailable, hasAlert: alert)
    }

    @Test(arguments: [LifecycleState.active, .inactive], [(true, true), (true, false), (false, true), (false, false)])
    func activeOrInactive_any_any_handlerCalledNothingPresented(state: LifecycleState, keys: (Bool, Bool)) {
        #expect(self.route(state, contentAvailable: keys.0, alert: keys.1) == .handler)
    }

    @Test func background_set_yes_handlerCalledAndAlertPresented() {
        #expect(self.route(.background, contentAvailable: true, alert: true) == .handlerAndAlert)
    }

    @Test func background_set_no_handlerCalled() {
        #expect(self.route(.background, contentAvailable: true, alert: false) == .handler)
    }

    @Test func background_notSet_yes_presented() {
        #expect(self.route(.background, contentAvailable: false, alert: true) == .alert)
    }

    @Test func background_notSet_no_nobodyIsCalled() {
        #expect(self.route(.background, contentAvailable: false, alert: false) == .nobody)
    }

    @Test(arguments: [(true, true), (true, false), (false, true), (false, false)])
    func notRunning_any_any_startedWithTheMessage(keys: (Bool, Bool)) {
        #expect(self.route(.notRunning, contentAvailable: keys.0, alert: keys.1) == .launch)
    }

    @Test func theWholeTable() {
        var lines = ["state       content-available  alert  route"]
        for state in [LifecycleState.active, .inactive, .background, .notRunning] {
            for (contentAvailable, alert) in [(true, true), (true, false), (false, true), (false, false)] {
                let route = self.route(state, contentAvailable: contentAvailable, alert: alert)
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
                notRunning  set                yes    launch
                notRunning  set                no     launch
                notRunning  not set            yes    launch
                notRunning  not set            no     launch
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
        // In the background, each of the four combinations has its own route.
        let route = ReceptionRoute(of: message, alert: message.content?.alert, in: .background)
        #expect(route == self.route(.background, contentAvailable: isContentAvailable, alert: hasAlert))
    }
}
