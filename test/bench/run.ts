/*
 * `npm run bench`: what the gateway adds to a call, as a multiple of a bare proxy. README.md says how to read it.
 */
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type BenchFormat, type Load, run } from './load.ts'
import { type Participant, pin, start } from './process.ts'
import { head, rows, type Sample } from './table.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
  },
})
const rounds = Number(values.rounds)
const seconds = Number(values.seconds)

const LOAD_CPU = 1
const MEASURED_CPU = 0
const WORDS = 100

pin(process.pid, LOAD_CPU)
const direct = await start('provider.ts', { cpu: LOAD_CPU })
const store = await mkdtemp(join(tmpdir(), 'bench-store-'))
const bun = fileURLToPath(new URL('../runtimes/node_modules/.bin/bun', import.meta.url))

/** What stands between clients and provider: the file of each, and what it is started with. */
const servers = {
  proxy: { file: 'proxy.ts' },
  gateway: { file: 'gateway.mjs' },
  fileGateway: { file: 'gateway.mjs', env: { STORE: store } },
  limitedGateway: { file: 'gateway.mjs', env: { LIMITS: 'yes' } },
  bunProxy: { file: 'bun-proxy.mjs', runtime: bun },
  bunGateway: { file: 'bun-gateway.mjs', runtime: bun },
} as const
type ServerName = keyof typeof servers

const started = new Map<ServerName, Promise<Participant>>()

/** Starts a server with the first suite that needs it. */
function serverOf(name: ServerName): Promise<Participant> {
  const { file, ...options } = { env: {}, ...servers[name] }
  const env = { PROVIDER: direct.url, ...options.env }
  const server = started.get(name) ?? start(file, { ...options, env, cpu: MEASURED_CPU })
  started.set(name, server)
  return server
}

interface Suite extends Pick<Load, 'model' | 'stream' | 'clients'> {
  name: string
  provider: BenchFormat
  /** The format of the clients of the gateway; the others ask the provider in its own. */
  client: BenchFormat
  /** What is counted of one answer. */
  per: number
  proxy: ServerName
  gateway: ServerName
  /** How many times the CPU time of the proxy the gateway is to take at most. */
  aim?: number
}

const onNode = { proxy: 'proxy', gateway: 'gateway' } as const
const onBun = { proxy: 'bunProxy', gateway: 'bunGateway' } as const
const chat = { provider: 'chat', client: 'chat', model: 'chat/bench' } as const
const toMessages = { provider: 'messages', client: 'chat', model: 'messages/bench' } as const
const toChat = { provider: 'chat', client: 'messages', model: 'chat/bench' } as const
const embeddings = { provider: 'embeddings', client: 'embeddings', model: 'chat/bench' } as const
const json = { stream: false, clients: 32, per: 1 } as const
const quick = { stream: true, clients: 32, per: WORDS } as const
const many = { stream: true, clients: 64, per: WORDS } as const
const slow = { stream: true, clients: 500, per: WORDS } as const
const suites: Suite[] = [
  { name: 'JSON answers, 32 clients', ...onNode, ...chat, ...json, aim: 1.65 },
  {
    name: 'JSON answers, file store and combo, 32 clients',
    ...onNode,
    ...chat,
    ...json,
    gateway: 'fileGateway',
    model: 'pair',
  },
  { name: 'JSON answers, key with limits, 32 clients', ...onNode, ...chat, ...json, gateway: 'limitedGateway' },
  { name: 'JSON answers, embeddings, 32 clients', ...onNode, ...embeddings, ...json },
  { name: `streams of ${WORDS} chunks, 32 clients`, ...onNode, ...chat, ...quick },
  { name: `streams of ${WORDS} chunks, 64 clients`, ...onNode, ...chat, ...many, aim: 1 },
  { name: `slow streams of ${WORDS} chunks, 500 clients`, ...onNode, ...chat, ...slow, model: 'chat/slow' },
  {
    name: `translated streams, Chat client, Messages provider, 32 clients`,
    ...onNode,
    ...toMessages,
    ...quick,
    aim: 1.25,
  },
  { name: `translated streams, Messages client, Chat provider, 32 clients`, ...onNode, ...toChat, ...quick, aim: 1.25 },
  {
    name: `translated slow streams, Chat client, Messages provider, 500 clients`,
    ...onNode,
    ...toMessages,
    ...slow,
    model: 'messages/slow',
  },
  {
    name: `translated slow streams, Messages client, Chat provider, 500 clients`,
    ...onNode,
    ...toChat,
    ...slow,
    model: 'chat/slow',
  },
  { name: 'JSON answers on Bun, 32 clients', ...onBun, ...chat, ...json, aim: 1.5 },
  { name: `streams of ${WORDS} chunks on Bun, 64 clients`, ...onBun, ...chat, ...many },
]

console.log(`Medians of ${rounds} rounds of ${seconds} s\n\n${head}`)
for (const suite of suites.filter(({ name }) => name.includes(values.only))) {
  const { name, aim } = suite
  const isMissing = suite.proxy === 'bunProxy' && !existsSync(bun)
  console.log(`${name}${isMissing ? ': left out, since test/runtimes is not installed (npm ci in that folder)' : ''}`)
  if (!isMissing) console.log(rows(await samplesOf(suite), { floor: 'proxy', without: 'direct', aim }))
}
for (const server of [direct, ...(await Promise.all(started.values()))]) server.stop()
await rm(store, { recursive: true, force: true })

/** Measures the ways to the provider by turns; the first round warms them up. */
async function samplesOf({ proxy, gateway, per, provider, client, ...load }: Suite): Promise<Sample[]> {
  const ways = { direct, proxy: await serverOf(proxy), gateway: await serverOf(gateway) }
  const samples: Sample[] = []
  for (let round = -1; round < rounds; round++) {
    for (const [way, { url, key = 'none', used }] of Object.entries(ways)) {
      const before = await used()
      const start = performance.now()
      const running = run({ ...load, url, key, seconds, format: way === 'gateway' ? client : provider })
      const { rss } = await setTimeout((seconds * 1_000) / 2).then(used) // while all are at it
      const times = await running
      const took = (performance.now() - start) / 1_000
      const { cpu } = await used()
      const units = times.length * per
      if (round >= 0) samples.push({ way, perSecond: units / took, times, cpuPerUnit: (cpu - before.cpu) / units, rss })
    }
  }
  return samples
}
