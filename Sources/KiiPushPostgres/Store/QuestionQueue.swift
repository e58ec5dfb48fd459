#if Postgres
import KiiPushCore

/// Queries and writes outside turns, many in one transaction. If thousands of agents start together, a transaction for
/// each query would delay turns and the renewal of the lease.
struct QuestionQueue {
    struct Question {
        let steps: [PostgresConnection.Step]
        let writes: Bool
        let completion: StoreCompletion<[PostgresRows]>
    }

    static let together = 64

    private var waiting = Fifo<Question>()
    var isUnderWay = false

    mutating func add(_ question: Question) { self.waiting.append(question) }

    mutating func take(_ count: Int) -> [Question] {
        var taken: [Question] = []
        while taken.count < count, let question = self.waiting.popFirst() { taken.append(question) }
        return taken
    }
}

extension PostgresStore {
    /// Queues statements for a common transaction. Statements that other methods send may overtake them.
    ///
    /// - Parameter writes: whether the statements write. They then run only if this process is still the gateway.
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
                // One query made the server roll back the common transaction. Each query is sent again, alone.
                for question in questions {
                    self.send([question]) { question.completion($0.result) }
                }
            case .refused(let error, _, _):
                for question in questions { question.completion(.failure(error)) }
            case .unknown(let error):
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
