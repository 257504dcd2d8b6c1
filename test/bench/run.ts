/*
 * `npm run bench`: what the gateway adds to a call, as a multiple of a bare proxy. README.md says how to read it.
 */
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { run } from './load.ts'
import { type Participant, pin, start } from './process.ts'
import { type Sample, table } from './table.ts'

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, seconds: { type: 'string', default: '3' } },
})
const rounds = Number(values.rounds)
const seconds = Number(values.seconds)

const LOAD_CPU = 1
const MEASURED_CPU = 0
const WORDS = 100

pin(process.pid, LOAD_CPU)
const provider = await start('provider.ts', { cpu: LOAD_CPU })
const env = { PROVIDER: provider.url }
const proxy = await start('proxy.ts', { cpu: MEASURED_CPU, env })
const gateway = await start('gateway.mjs', { cpu: MEASURED_CPU, env })
const key = await (await fetch(`${gateway.url}/key`)).text()

const ways: Record<string, Participant> = { direct: provider, proxy, gateway }
const suites = [
  { name: 'JSON answers, 32 clients', model: 'bench', stream: false, clients: 32, per: 1 },
  { name: `streams of ${WORDS} chunks, 32 clients`, model: 'bench', stream: true, clients: 32, per: WORDS },
  { name: `slow streams of ${WORDS} chunks, 500 clients`, model: 'slow', stream: true, clients: 500, per: WORDS },
]

for (const { name, per, ...load } of suites) {
  const samples: Sample[] = []
  for (let round = -1; round < rounds; round++) {
    for (const [way, participant] of Object.entries(ways)) {
      const before = await participant.used()
      const start = performance.now()
      const running = run({ url: participant.url, key, seconds, ...load })
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
