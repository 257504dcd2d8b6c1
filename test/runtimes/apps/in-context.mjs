import { AsyncLocalStorage } from 'node:async_hooks'
import { createGateway } from 'signalbox'
import { memoryStorage } from 'signalbox/storage/memory'

/*
 * Asks a provider that never answers three times at once, each time with the same time-out and in an async context of its own. Says in which
 * context the hooks were told, and whether the answers came in time.
 */

const context = new AsyncLocalStorage()
const told = { onAttempt: [], onRequest: [] }
const tell = (hook, ask) => told[hook].push(context.getStore() === ask ? 'its own' : `that of ${context.getStore()}`)
const gateway = createGateway({
  storage: memoryStorage(),
  logger: false,
  fetch: () => new Promise(() => {}),
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

const ask = async (model) => {
  const startedAt = performance.now()
  const { status } = await gateway.fetch('http://gateway/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-signalbox-timeout-ms': '100' },
    body: JSON.stringify({ model: `test/${model}`, messages: [{ role: 'user', content: 'Hi' }] }),
  })
  return { status, isInTime: performance.now() - startedAt > 95 }
}
const answers = await Promise.all(['a', 'b', 'c'].map((model) => context.run(model, () => ask(model))))
console.log(JSON.stringify({ answers, told }))
