// The package `mqtt` of Node.js, called as its readme shows. It sends PUBACK after the listeners of 'message'.
//
// usage: node receive_node.js HOST PORT TOPIC COUNT QOS [CA-FILE]
const fs = require('fs')
const mqtt = require('mqtt')

if (process.argv.length !== 7 && process.argv.length !== 8) {
  console.error('usage: receive_node.js HOST PORT TOPIC COUNT QOS [CA-FILE]')
  process.exit(64)
}
const [host, port, topic, count, qos, authority] = process.argv.slice(2)
const client = mqtt.connect({
  protocol: authority ? 'mqtts' : 'mqtt',
  host,
  port: Number(port),
  ca: authority && fs.readFileSync(authority),
  reconnectPeriod: 0
})
const all = Number(count)
let seen = 0
client.on('connect', () => client.subscribe(topic, { qos: Number(qos) }))
client.on('message', () => {
  seen += 1
  // An immediate end of the connection would overtake the last PUBACK.
  if (seen === all) setImmediate(() => client.end())
})
client.on('error', (error) => {
  // The broker may close the connection after the last PUBACK.
  if (seen === all) process.exit(0)
  console.error(error.message)
  process.exit(69)
})
client.on('close', () => process.exit(seen < all ? 69 : 0))
