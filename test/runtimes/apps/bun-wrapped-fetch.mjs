import { spyOn } from 'bun:test'
import { memoryStorage } from 'signalbox/storage/memory'

/*
 * Replaces Bun's `fetch` with one that never settles, before the package is loaded. The argument selects how. Prints what happens when a client
 * disconnects.
 */

const never = function fetch() {
  return new Promise(() => {})
}
const ways = {
  plain: () => never,
  bound: () => never.bind(null),
  disguised: () => Object.assign(never, { toString: fetch.toString.bind(fetch) }),
  proxy: () => new Proxy(fetch, { apply: never }),
  spy: () => spyOn(globalThis, 'fetch').mockImplementation(never),
}
globalThis.fetch = ways[process.argv[2]]()
const { createGateway } = await import('signalbox')
const gateway = createGateway({ storage: memoryStorage(), logger: false })
await gateway.api.connections.create({
  provider: 'openai-compatible-test',
  name: 'test',
  apiKey: 'k',
  providerSpecificData: { prefix: 'test', baseUrl: 'http://upstream.invalid/v1' },
})
const leaving = new AbortController()
setTimeout(() => leaving.abort(), 50)
const request = new Request('http://gateway/v1/chat/completions', {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ model: 'test/m', messages: [{ role: 'user', content: 'Hi' }] }),
  signal: leaving.signal,
})
const { status } = await gateway.fetch(request)
console.log(JSON.stringify({ status }))
