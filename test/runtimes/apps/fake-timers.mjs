import { createGateway } from 'signalbox'
import { memoryStorage } from 'signalbox/storage/memory'

/*
 * Uses fake timers while a first request is in flight, as an app's tests may. The argument selects how. Prints what happens to a second request with
 * the same timeout in real time, and vice versa.
 */

const { setTimeout: platformSetTimeout } = globalThis
const ways = {
  async byHand() {
    const due = []
    return {
      begin() {
        globalThis.setTimeout = (onTime) => due.push(onTime)
      },
      pass() {
        for (const onTime of due.splice(0)) onTime()
      },
      end() {
        globalThis.setTimeout = platformSetTimeout
      },
    }
  },
  async jest() {
    const { jest } = await import('bun:test')
    return {
      begin: () => jest.useFakeTimers(),
      pass: () => jest.advanceTimersByTime(200),
      end: () => jest.useRealTimers(),
    }
  },
}
const fake = await ways[process.argv[2]]()
let asked = 0
const gateway = createGateway({
  storage: memoryStorage(),
  logger: false,
  fetch() {
    asked += 1
    return new Promise(() => {})
  },
})
await gateway.api.connections.create({
  provider: 'openai-compatible-test',
  name: 'test',
  apiKey: 'k',
  providerSpecificData: { prefix: 'test', baseUrl: 'http://upstream.invalid/v1' },
})

/** Calls a provider that never responds. Resolves when the call is in flight. */
async function ask() {
  const before = asked
  const answer = gateway.fetch('http://gateway/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-signalbox-timeout-ms': '200' },
    body: JSON.stringify({ model: 'test/m', messages: [{ role: 'user', content: 'Hi' }] }),
  })
  while (asked === before) await new Promise((resolve) => setImmediate(resolve))
  return { answer: answer.then(({ status }) => status) }
}
const within = (ms, { answer }) =>
  Promise.race([answer, new Promise((resolve) => platformSetTimeout(() => resolve('no answer'), ms))])

fake.begin()
await ask() // nobody advances its fake time
fake.end()
const behindFake = await within(20_000, await ask())

const real = await ask()
fake.begin()
const faked = await ask()
fake.pass()
fake.end()
const behindReal = await within(100, faked)
console.log(JSON.stringify({ behindFake, behindReal, real: await within(20_000, real) }))
process.exit()
