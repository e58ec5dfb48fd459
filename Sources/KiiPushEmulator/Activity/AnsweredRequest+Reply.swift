import KiiPushCore

extension AnsweredRequest {
    static let maximumBodyBytes = 64 << 10

    init(
        _ request: IncomingRequest, _ outcome: EmulatedCloud.Reply, _ response: HTTPResponse?, elapsed: Duration
    ) {
        func kept(_ body: [UInt8]) -> [UInt8] {
            let most = AnsweredRequest.maximumBodyBytes
            return body.count > most ? Array(body.prefix(most)) : body
        }
        let isRefusal = response.map { $0.status >= 400 } ?? false
        let refusal = isRefusal ? response.flatMap { try? JSONValue(parsing: $0.body) } : nil
        let path = (try? RequestTarget(parsing: request.target))?.path
        self.init(
            method: request.meantMethod, target: request.target, isControl: path?.first == "__kii",
            caller: outcome.caller?.text, status: response?.status, errorCode: refusal?["errorCode"]?.string,
            elapsed: elapsed, body: kept(request.body), answer: kept(response?.body ?? []),
            messages: outcome.effects.messages)
    }
}
