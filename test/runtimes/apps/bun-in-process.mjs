import { createGateway } from 'signalbox'
import { memoryStorage } from 'signalbox/storage/memory'

/* Calls a gateway in the same process for clients that have left, in each way, and says what became of it. */

let calls = 0
const gateway = createGateway({
  storage: memoryStorage(),
  logger: false,
  fetch: async () => {
    calls++
    return Response.json({ choices: [{ index: 0, message: { content: 'Hi' }, finish_reason: 'stop' }] })
  },
})
await gateway.api.connections.create({
  provider: 'openai-compatible-test',
  name: 'test',
  apiKey: 'k',
  providerSpecificData: { prefix: 'test', baseUrl: 'http://upstream.invalid/v1' },
})

const url = 'http://gateway/v1/chat/completions'
const request = (signal) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ model: 'test/m', messages: [{ role: 'user', content: 'Hi' }] }),
  signal,
})
const left = AbortSignal.abort()
const answers = [
  await gateway.fetch(url, request()),
  await gateway.fetch(url, request(left)),
  await gateway.fetch(new Request(url, request(left))),
  await gateway.handle(new Request(url, request(left))),
]
console.log(JSON.stringify({ statuses: answers.map(({ status }) => status), calls }))
