/*
 * `npm run bench`: what the gateway adds to a call, as a multiple of a bare proxy. README.md says how to read it.
 */
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type BenchFormat, type Load, run } from './load.ts'
import { type Participant, pin, start } from './process.ts'
import { type Sample, table } from './table.ts'

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
const env = { PROVIDER: direct.url }
const proxy = await start('proxy.ts', { cpu: MEASURED_CPU, env })
const gateway = await start('gateway.mjs', { cpu: MEASURED_CPU, env })
const key = await (await fetch(`${gateway.url}/key`)).text()

const ways: Record<string, Participant> = { direct, proxy, gateway }
/** `client`: the format of the clients of the gateway; the others ask the provider in its own. */
interface Suite extends Pick<Load, 'stream' | 'clients'> {
  name: string
  provider: BenchFormat
  client: BenchFormat
  model: 'bench' | 'slow'
  /** What is counted of one answer. */
  per: number
}

const chat = { provider: 'chat', client: 'chat' } as const
const toMessages = { provider: 'messages', client: 'chat' } as const
const toChat = { provider: 'chat', client: 'messages' } as const
const quick = { model: 'bench', stream: true, clients: 32, per: WORDS } as const
const slow = { model: 'slow', stream: true, clients: 500, per: WORDS } as const
const suites: Suite[] = [
  { name: 'JSON answers, 32 clients', ...chat, ...quick, stream: false, per: 1 },
  { name: `streams of ${WORDS} chunks, 32 clients`, ...chat, ...quick },
  { name: `slow streams of ${WORDS} chunks, 500 clients`, ...chat, ...slow },
  { name: `translated streams, Chat client, Messages provider, 32 clients`, ...toMessages, ...quick },
  { name: `translated streams, Messages client, Chat provider, 32 clients`, ...toChat, ...quick },
  { name: `translated slow streams, Chat client, Messages provider, 500 clients`, ...toMessages, ...slow },
  { name: `translated slow streams, Messages client, Chat provider, 500 clients`, ...toChat, ...slow },
]

for (const { name, per, provider, client, model, ...load } of suites.filter((suite) =>
  suite.name.includes(values.only),
)) {
  const samples: Sample[] = []
  for (let round = -1; round < rounds; round++) {
    for (const [way, participant] of Object.entries(ways)) {
      const before = await participant.used()
      const start = performance.now()
      const format = way === 'gateway' ? client : provider
      const running = run({ url: participant.url, key, seconds, format, model: `${provider}/${model}`, ...load })
      const { rss } = await setTimeout((seconds * 1_000) / 2).then(participant.used) // while all are at it
      const times = await running
      const took = (performance.now() - start) / 1_000
      const { cpu } = await participant.used()
      const units = times.length * per
      if (round >= 0) samples.push({ way, perSecond: units / took, times, cpuPerUnit: (cpu - before.cpu) / units, rss })
    }
  }
  console.log(`\n${name}, median of ${rounds} rounds\n\n${table(samples, { floor: 'proxy', without: 'direct' })}`)
}
for (const participant of Object.values(ways)) participant.stop()
