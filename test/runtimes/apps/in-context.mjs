import { AsyncLocalStorage } from 'node:async_hooks'
import { createGateway } from 'signalbox'
import { memoryStorage } from 'signalbox/storage/memory'

/*
 * Sends three concurrent requests with the same timeout to a provider that never responds, each in a separate async context, first with the client's
 * timeout and then with the gateway's. Prints the context in which each hook and abort ran, and whether the timeouts fired too early.
 */

const context = new AsyncLocalStorage()
const recorded = { onAttempt: [], onRequest: [], abort: [] }
const tell = (hook, ask) =>
  recorded[hook].push(context.getStore() === ask ? 'its own' : `that of ${context.getStore()}`)
const gateway = createGateway({
  storage: memoryStorage(),
  logger: false,
  limits: { headersTimeoutMs: 200, maxAttempts: 1 },
  fetch(_, { signal, body }) {
    const { model } = JSON.parse(body)
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        tell('abort', model)
        reject(signal.reason)
      })
    })
  },
  hooks: {
    onAttempt: ({ model }) => tell('onAttempt', model),
    onRequest: ({ model }) => tell('onRequest', model.slice('test/'.length)),
  },
})
await gateway.api.connections.create({
  provider: 'openai-compatible-test',
  name: 'test',
  apiKey: 'k',
  providerSpecificData: { prefix: 'test', baseUrl: 'http://upstream.invalid/v1' },
})

const ask = async (model, headers = {}) => {
  const startedAt = performance.now()
  const { status } = await gateway.fetch('http://gateway/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: `test/${model}`, messages: [{ role: 'user', content: 'Hi' }] }),
  })
  return { status, isInTime: performance.now() - startedAt > 95 }
}
const inContexts = (models, headers) =>
  Promise.all(models.map((model) => context.run(model, () => ask(model, headers))))
const answers = [
  ...(await inContexts(['a', 'b', 'c'], { 'x-signalbox-timeout-ms': '100' })),
  ...(await inContexts(['d', 'e', 'f'])),
]
console.log(JSON.stringify({ answers, recorded }))
