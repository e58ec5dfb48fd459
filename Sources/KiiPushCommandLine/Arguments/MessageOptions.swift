package import KiiPushCore

package struct MessageListOptions: ParsableArguments {
    @Option(
        value: "STATE",
        help: "Only these: waiting, running, retry, presented, done or dead. May be repeated. Default: all but done.")
    package var state: [MessageRecord.Standing] = []

    @Option(short: "n", value: "N", help: "Only the newest N, the oldest of them first. Default: all.")
    package var limit: PositiveCount?

    package init() {}

    package var states: Set<MessageRecord.Standing> {
        Set(self.state.isEmpty ? MessageRecord.Standing.allCases.filter { $0 != .done } : self.state)
    }
}

package struct ChosenMessages: ParsableArguments {
    @Argument(value: "ID", help: "The messages' numbers.", completion: .asked(.deadLetters))
    package var numbers: [MessageNumber] = []

    @Flag(help: "All dead letters.") package var all = false

    package init() {}

    package func validate() throws {
        guard self.all != self.numbers.isEmpty else { return }
        throw CommandFailure(
            .usage, self.all ? "'--all' and numbers exclude each other" : "name the messages, or all with '--all'")
    }
}
