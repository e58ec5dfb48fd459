#if Postgres
package import KiiPushCore

extension PostgresStore {
    package func ledger(completion: @escaping StoreCompletion<MessageLedger>) {
        self.ask([(PostgresStatements.ledger, .init())]) { answer in completion(answer.map { MessageLedger($0[0]) }) }
    }

    package func installation(
        id: String, of owner: InboxOwner?, agent: String, completion: @escaping StoreCompletion<Int64>
    ) {
        var parameters = PostgresParameters()
        for text in [id, owner?.site, owner?.app, owner?.principal, agent] { parameters.add(text) }
        parameters.add(self.gateway.id)
        self.ask(together: [(PostgresStatements.installation, parameters)], writes: true) { answer in
            completion(
                answer.map { rows in
                    if let block = rows[0].optionalInteger(0, 3) { self.numbers.begin(block: block) }
                    self.know(rows[0], 0, key: 0, shard: 1, pendingBytes: 2, agent: agent)
                    return rows[0].integer(0, 0)
                })
        }
    }

    private func know(
        _ rows: PostgresRows, _ row: Int, key: Int, shard: Int, pendingBytes: Int, agent: String
    ) {
        self.installations.know(
            rows.integer(row, key), shard: rows.integer(row, shard), agent: agent,
            pendingBytes: rows.integer(row, pendingBytes))
    }

    package func unproven(
        installation: Int64, completion: @escaping StoreCompletion<[UnprovenRow]>
    ) {
        let parameters = PostgresParameters(installation, self.unprovenAfter(installation))
        self.ask(together: [(PostgresStatements.unproven, parameters)]) { answer in
            completion(
                answer.map { rows in
                    (0..<rows[0].count).compactMap { row in
                        UInt16(exactly: rows[0].integer(row, 1)).map {
                            UnprovenRow(sequence: rows[0].integer(row, 0), packetID: $0)
                        }
                    }
                })
        }
    }

    package func deadLetters(
        after sequence: Int64, limit: Int, completion: @escaping StoreCompletion<[MessageRecord]>
    ) {
        self.ask([(PostgresStatements.deadLetters, .init(sequence, Int64(limit)))]) { answer in
            completion(
                answer.map { rows in
                    (0..<rows[0].count).compactMap { row in
                        let id = rows[0].text(row, PostgresStatements.columnCount)
                        return StoredMessage(rows[0], row).map { MessageRecord($0, installationID: id) }
                    }
                })
        }
    }

    package func presented(
        installation: Int64, after sequence: Int64, limit: Int,
        completion: @escaping StoreCompletion<[StoredMessage]>
    ) {
        let parameters = PostgresParameters(installation, sequence, Int64(limit))
        self.ask(together: [(PostgresStatements.presented, parameters)]) { answer in
            completion(
                answer.map { rows in (0..<rows[0].count).compactMap { row in StoredMessage(rows[0], row) } })
        }
    }

    // MARK: - Decisions

    package func message(_ sequence: Int64, completion: @escaping StoreCompletion<StoredMessage?>) {
        self.ask([(PostgresStatements.found, .init(sequence))]) { answer in
            completion(answer.map { rows in rows[0].count > 0 ? StoredMessage(rows[0], 0) : nil })
        }
    }

    package func requeue(
        _ sequence: Int64, at now: Timestamp, completion: @escaping StoreCompletion<Int64?>
    ) {
        self.message(sequence) { answer in
            guard case .success(let found?) = answer else { return completion(answer.map { _ in nil }) }
            let source = DecodedContent(found).source
            let installation = found.installation
            let moment = now.millisecondsSinceEpoch + self.clock.lead
            let parameters = PostgresParameters(installation, sequence, moment, source)
            self.change((PostgresStatements.requeue, parameters), of: installation) { answer in
                completion(
                    answer.map { former in
                        self.backlogRevision += 1
                        guard let former else { return nil }
                        self.count(former.bytes, of: installation, from: former.state, to: .waiting)
                        return source
                    })
            }
        }
    }

    package func drop(_ sequence: Int64, completion: @escaping StoreCompletion<Void>) {
        self.message(sequence) { answer in
            guard case .success(let found?) = answer else { return completion(answer.map { _ in () }) }
            let installation = found.installation
            let parameters = PostgresParameters(installation, sequence, self.gateway.id)
            self.change((PostgresStatements.drop, parameters), of: installation) { answer in
                completion(
                    answer.map { former in
                        guard let former else { return }
                        self.count(former.bytes, of: installation, from: former.state, to: nil)
                    })
            }
        }
    }

    private func change(
        _ step: PostgresConnection.Step, of installation: Int64,
        completion: @escaping StoreCompletion<(state: RowState, bytes: Int64)?>
    ) {
        self.write([step], of: [installation]) { answer in
            completion(
                answer.map { rows in
                    guard rows[0].count > 0 else { return nil }
                    return RowState(rawValue: rows[0].integer(0, 0)).map { ($0, rows[0].integer(0, 1)) }
                })
        }
    }

    // MARK: - Adoption

    package func takeOver(
        _ installation: Int64, besides isRunning: @escaping (Int64) -> Bool,
        completion: @escaping StoreCompletion<[Adoption]>
    ) {
        var mine = PostgresParameters(installation)
        let adopted = (PostgresStatements.adopted, mine)
        // Reads first, because usually there is nothing to write.
        self.ask(together: [(PostgresStatements.former, mine), adopted]) { answer in
            guard case .success(let rows) = answer else { return completion(answer.map { _ in [] }) }
            let former = (0..<rows[0].count).map { rows[0].integer($0, 0) }.filter { !isRunning($0) }
            guard !former.isEmpty else {
                return completion(.success(self.adoptions(rows[1], by: installation, counts: [:])))
            }
            mine.add(former)
            self.write([(PostgresStatements.takeOver, mine), adopted], of: [installation]) { answer in
                completion(
                    answer.map { rows in
                        let counts = Dictionary(
                            uniqueKeysWithValues: (0..<rows[0].count).map {
                                (rows[0].integer($0, 0), rows[0].integer($0, 1))
                            })
                        return self.adoptions(rows[1], by: installation, counts: counts)
                    })
            }
        }
    }

    private func adoptions(_ rows: PostgresRows, by installation: Int64, counts: [Int64: Int64]) -> [Adoption] {
        let agent = self.installations.agent(of: installation)
        return (0..<rows.count).map { row in
            let key = rows.integer(row, 0)
            self.know(rows, row, key: 0, shard: 3, pendingBytes: 2, agent: agent)
            return Adoption(key: key, id: rows.text(row, 1) ?? "", messages: Int(counts[key] ?? 0))
        }
    }

    package func adopt(
        _ formerID: String, by installationID: String, completion: @escaping StoreCompletion<Adoption?>
    ) {
        var parameters = PostgresParameters()
        parameters.add(formerID)
        parameters.add(installationID)
        parameters.add(self.gateway.id)
        self.write([(PostgresStatements.adopt, parameters)]) { answer in
            completion(
                answer.map { rows in
                    self.backlogRevision += 1
                    guard rows[0].count > 0 else { return nil }
                    let agent = self.installations.agent(of: rows[0].integer(0, 4))
                    self.know(rows[0], 0, key: 0, shard: 1, pendingBytes: 2, agent: agent)
                    return Adoption(key: rows[0].integer(0, 0), id: formerID, messages: Int(rows[0].integer(0, 3)))
                })
        }
    }
}

extension MessageLedger {
    init(_ rows: PostgresRows) {
        let numbers = (0..<10).map { rows.integer(0, $0) }
        let (received, duplicates, expired, dropped) = (numbers[0], numbers[1], numbers[2], numbers[3])
        let unfinished = numbers[4...8].reduce(0, +)
        self.init(
            received: received, duplicates: duplicates, waiting: numbers[4] + numbers[6] - numbers[9],
            running: numbers[5] + numbers[9],
            presented: numbers[7],
            done: received - duplicates - unfinished - expired - dropped, dead: numbers[8], expired: expired,
            dropped: dropped)
    }
}
#endif
