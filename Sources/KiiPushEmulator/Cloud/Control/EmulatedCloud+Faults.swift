import KiiPushCore

/// Failures on demand: for what a client has to survive and a healthy emulator never shows.
extension EmulatedCloud {
    private static let maximumFaults = 1000

    func listFaults() -> HTTPResponse { .json(200, nil, ["faults": JSONValue(self.faults.map { $0.json })]) }

    mutating func addFault(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        guard self.faults.count < EmulatedCloud.maximumFaults else {
            throw .invalidInput("There are \(EmulatedCloud.maximumFaults) faults; remove them first.")
        }
        let fault = try Fault(ControlBody(call), id: self.identifiers.unique())
        self.faults.append(fault)
        return .json(201, nil, fault.json)
    }

    mutating func removeFaults() -> HTTPResponse {
        self.faults = []
        return .noContent
    }

    /// The first fault that the request meets, counted down.
    mutating func takeFault(method: String, path: [String]) -> Fault? {
        guard let index = self.faults.firstIndex(where: { $0.meets(method: method, path: path) }) else { return nil }
        self.faults[index].times -= 1
        let fault = self.faults[index]
        if fault.times == 0 { self.faults.remove(at: index) }
        return fault
    }
}
