import { createGateway } from 'signalbox'
import { memoryStorage } from 'signalbox/storage/memory'

/*
 * Calls a gateway in the same process with clients that have already disconnected, through each entry point, and with one that disconnects while a
 * replacement for Bun's `fetch` hangs. Prints the results.
 */

let calls = 0
const gateway = createGateway({
  storage: memoryStorage(),
  logger: false,
  fetch: async () => {
    calls++
    return Response.json({ choices: [{ index: 0, message: { content: 'Hi' }, finish_reason: 'stop' }] })
  },
})
const connection = {
  provider: 'openai-compatible-test',
  name: 'test',
  apiKey: 'k',
  providerSpecificData: { prefix: 'test', baseUrl: 'http://upstream.invalid/v1' },
}
await gateway.api.connections.create(connection)

const url = 'http://gateway/v1/chat/completions'
const request = (signal) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ model: 'test/m', messages: [{ role: 'user', content: 'Hi' }] }),
  signal,
})
const left = AbortSignal.abort()
/** Returns what a client sees: the response status, or the name of the error that the call rejects with. */
const endOf = (answer) =>
  answer.then(
    ({ status }) => status,
    ({ name }) => name,
  )
const ends = [
  await endOf(gateway.fetch(url, request())),
  await endOf(gateway.fetch(url, request(left))),
  await endOf(gateway.fetch(new Request(url, request(left)))),
  await endOf(gateway.handle(new Request(url, request(left)))),
]

const patched = createGateway({ storage: memoryStorage(), logger: false })
await patched.api.connections.create(connection)
globalThis.fetch = () => new Promise(() => {})
const leaving = new AbortController()
setTimeout(() => leaving.abort(), 50)
ends.push(await endOf(patched.fetch(url, request(leaving.signal))))

console.log(JSON.stringify({ ends, calls }))
