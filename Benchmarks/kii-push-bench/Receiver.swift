/// A client that receives a given number of messages from a broker on this machine, and then exits.
struct Receiver {
    struct Run {
        var port: Int
        var count: Int
        var qos: Int
        var isEncrypted = false
    }

    var name: String
    /// Against the blast, the receiver gets one message where the fastest receivers get `share`, so that all runs take
    /// about equally long.
    var share = 1
    var discardsOutput = false
    var command: (Run) throws -> [String]
}

extension Workbench {
    /// The most widespread client, first among the peers.
    static let mosquittoSub = "mosquitto_sub"

    /// Usual MQTT clients, which count messages in the callback that their manuals suggest
    /// (`Benchmarks/peers/receive*`).
    var peers: [Receiver] {
        var peers = [
            Receiver(name: Self.mosquittoSub, share: 10, discardsOutput: true) { self.mosquittoSub($0) },
            self.peer("libmosquitto", share: 10, [self.program("receive_libmosquitto")]),
            self.peer("Paho C", share: 20, [self.program("receive_paho")]),
        ]
        // Some machines have a Node.js beside which Debian's package cannot be installed.
        if self.machine["node mqtt"] != nil {
            // Debian's package folder, which only Debian's own Node.js searches.
            let node = ["env", "NODE_PATH=/usr/share/nodejs", "node", self.program("receive_node.js")]
            peers.append(self.peer("node mqtt", share: 20, node))
        }
        peers.append(self.peer("paho-python", share: 40, ["/usr/bin/python3", self.program("receive_paho.py")]))
        return peers
    }

    private func peer(_ name: String, share: Int, _ program: [String]) -> Receiver {
        Receiver(name: name, share: share) { run in
            program + ["127.0.0.1", "\(run.port)", Self.topic, "\(run.count)", "\(run.qos)"]
                + (run.isEncrypted ? [self.certificate] : [])
        }
    }

    func mosquittoSub(_ run: Receiver.Run) -> [String] {
        ["mosquitto_sub", "-h", "127.0.0.1", "-p", "\(run.port)", "-t", Self.topic, "-q", "\(run.qos)"]
            + ["-C", "\(run.count)"] + (run.isEncrypted ? ["--cafile", self.certificate] : [])
    }
}
