#if Postgres
import KiiPushCore

/// What agents ask the database, and what they have it write, besides turns. Many of them in one transaction: each would
/// have the database write its log to the disk, and where thousands of agents start together, turns and the renewal of the
/// lease would stand behind all of them.
struct QuestionQueue {
    struct Question {
        let steps: [PostgresConnection.Step]
        let writes: Bool
        let completion: StoreCompletion<[PostgresRows]>
    }

    /// So many in one transaction.
    static let together = 64

    private var waiting = Fifo<Question>()
    /// Whether a transaction with some of them is under way.
    var isUnderWay = false

    mutating func add(_ question: Question) { self.waiting.append(question) }

    /// The first of them, or as many as there are.
    mutating func take(_ count: Int) -> [Question] {
        var taken: [Question] = []
        while taken.count < count, let question = self.waiting.popFirst() { taken.append(question) }
        return taken
    }
}

extension PostgresStore {
    /// Asks, together with what else is asked meanwhile. What is sent to the database later by others may come before it.
    ///
    /// - Parameter writes: whether anything is written, which is only done as long as this process is the gateway.
    func ask(
        together steps: [PostgresConnection.Step], writes: Bool = false,
        completion: @escaping StoreCompletion<[PostgresRows]>
    ) {
        self.questions.add(.init(steps: steps, writes: writes, completion: completion))
        self.askNext()
    }

    private func askNext() {
        guard !self.questions.isUnderWay else { return }
        let questions = self.questions.take(QuestionQueue.together)
        guard !questions.isEmpty else { return }
        self.questions.isUnderWay = true
        self.send(questions) { answer in
            self.questions.isUnderWay = false
            switch answer {
            case .rows(var rows):
                for question in questions {
                    question.completion(.success(Array(rows.prefix(question.steps.count))))
                    rows.removeFirst(question.steps.count)
                }
            case .refused where questions.count > 1:
                // Nothing of it was done, and one of them was the reason.
                for question in questions {
                    self.send([question]) { question.completion($0.result) }
                }
            case .refused(let error, _, _):
                for question in questions { question.completion(.failure(error)) }
            case .unknown(let error):
                // The connection is broken: what waits would come to nothing, one transaction after the other.
                for question in questions + self.questions.take(.max) { question.completion(.failure(error)) }
            }
            self.askNext()
        }
    }

    private func send(
        _ questions: [QuestionQueue.Question],
        completion: @escaping (PostgresConnection.Answer) -> Void
    ) {
        guard let connection else { return completion(.unknown(self.reasonAway)) }
        var steps = questions.flatMap(\.steps)
        let writes = questions.contains(where: \.writes)
        if writes {
            steps.insert(self.beginning(installations: [], messages: 0, repetitions: 0, number: nil), at: 0)
        }
        connection.send(steps) { answer in
            guard writes, case .rows(let rows) = answer else { return completion(answer) }
            completion(.rows(Array(rows.dropFirst())))
        }
    }
}
#endif
