#if Postgres
import KiiPushCore

/// Queries and writes outside turns, many in one transaction. If thousands of agents start together, a transaction for
/// each query would delay turns and the renewal of the lease.
extension PostgresStore {
    struct Question {
        let steps: [PostgresConnection.Step]
        let writes: Bool
        let completion: StoreCompletion<[PostgresRows]>
    }

    private static let questionsTogether = 64

    /// Queues statements for a common transaction. Statements that other methods send may overtake them.
    ///
    /// - Parameter writes: whether the statements write. They then run only if this process is still the gateway.
    func ask(
        together steps: [PostgresConnection.Step], writes: Bool = false,
        completion: @escaping StoreCompletion<[PostgresRows]>
    ) {
        self.questions.append(.init(steps: steps, writes: writes, completion: completion))
        self.askNext()
    }

    private func askNext() {
        guard !self.isAsking else { return }
        let questions = self.takeQuestions(PostgresStore.questionsTogether)
        guard !questions.isEmpty else { return }
        self.isAsking = true
        self.send(questions) { answer in
            self.isAsking = false
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
                for question in questions + self.takeQuestions(.max) { question.completion(.failure(error)) }
            }
            self.askNext()
        }
    }

    private func takeQuestions(_ count: Int) -> [Question] {
        var taken: [Question] = []
        while taken.count < count, let question = self.questions.popFirst() { taken.append(question) }
        return taken
    }

    private func send(
        _ questions: [Question],
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
