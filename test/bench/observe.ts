import { parseArgs } from 'node:util'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { jsonLog } from '../../src/features/observe/log.ts'
import type { GatewayObserver } from '../../src/features/observe/observer.ts'
import { prometheus } from '../../src/features/observe/prometheus.ts'
import { createGateway, type Gateway } from '../../src/gateway.ts'

/*
 * Measures the CPU time that an observer adds to a non-streaming request. Gateways with and without it take turns in this process, with a mock
 * provider. node test/bench/observe.ts --observer prometheus --turns 300 --requests 200
 */

const { values } = parseArgs({
  options: {
    turns: { type: 'string', default: '300' },
    requests: { type: 'string', default: '200' },
    observer: { type: 'string', default: 'prometheus' },
  },
})
const turns = Number(values.turns)
const requests = Number(values.requests)

const usage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 }
const message = { role: 'assistant', content: 'Hello' }
const response = JSON.stringify({
  ...{ id: 'c1', object: 'chat.completion', created: 1, model: 'm' },
  ...{ choices: [{ index: 0, message, finish_reason: 'stop' }], usage },
})
const input = JSON.stringify({ model: 'one/m', messages: [{ role: 'user', content: 'Hi' }] })

const observers: Record<string, () => GatewayObserver> = {
  prometheus: () => prometheus(),
  jsonLog: () => jsonLog(() => {}),
  nothing: () => ({ request: () => undefined }),
}
const observer = observers[values.observer]
if (!observer) throw new Error(`--observer must be one of ${Object.keys(observers).join(', ')}`)

/** The observers to measure. `none twice` shows how precise the measurement is. */
const observed: Record<string, GatewayObserver[] | undefined> = {
  none: undefined,
  'none twice': undefined,
  [values.observer]: [observer()],
}

async function open(observe: GatewayObserver[] | undefined): Promise<Gateway> {
  const gateway = createGateway({
    storage: memoryStorage(),
    catalog: { one: { baseUrl: 'http://one.test/v1', models: [{ id: 'm', price: { input: 1, output: 10 } }] } },
    fetch: async () => new Response(response, { headers: { 'content-type': 'application/json' } }),
    logger: false,
    usage: false,
    ...(observe && { observe }),
  })
  await gateway.api.connections.create({ provider: 'one', apiKey: 'key-of-the-bench' })
  return gateway
}

/** Returns the CPU time per request, in µs. */
async function turn(gateway: Gateway): Promise<number> {
  const before = process.cpuUsage()
  for (let index = 0; index < requests; index++) {
    const headers = { 'content-type': 'application/json' }
    const request = new Request('http://gateway/v1/chat/completions', { method: 'POST', headers, body: input })
    await (await gateway.fetch(request)).text()
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / requests
}

const median = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0

const gateways = new Map<string, Gateway>()
for (const [name, observe] of Object.entries(observed)) gateways.set(name, await open(observe))
const added = new Map<string, number[]>()
const base: number[] = []
for (let round = -5; round < turns; round++) {
  const costs = new Map<string, number>()
  const order = [...gateways].toSorted(() => Math.random() - 0.5) // so no gateway always follows the same one
  for (const [name, gateway] of order) costs.set(name, await turn(gateway))
  if (round < 0) continue // warms up the code
  const none = costs.get('none') ?? 0
  base.push(none)
  for (const [name, cost] of costs) if (name !== 'none') added.set(name, [...(added.get(name) ?? []), cost - none])
}
console.log(`${turns} turns of ${requests} requests; a request takes ${median(base).toFixed(1)} µs without observers`)
for (const [name, differences] of added) console.log(`  ${name}: ${median(differences).toFixed(2)} µs more`)
await Promise.all([...gateways.values()].map((gateway) => gateway.close()))
