import { writeSync } from 'node:fs'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { fileStorage } from '../../../adapters/storage/file.ts'
import { createGateway } from '../../../src/gateway.ts'
import { chatResponse } from '../../pipeline/support/responses.ts'

/*
 * A process that serves one request for each of many accounts: `filling <folder> <warm-up> <accounts>`. It prints the CPU time used until its first
 * response, its largest resident memory, and by how much its live memory grew after the warm-up. The accounts of the warm-up fill all caches.
 */

const [path = '', warmUp = '', accounts = ''] = process.argv.slice(2)
const LANES = 64
const MIB = 1_024 * 1_024
setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')
const storage = fileStorage({ path, logger: false })
const gateway = createGateway({
  storage,
  logger: false,
  catalog: { one: { baseUrl: 'http://one.test', models: [{ id: 'm', price: { input: 1, output: 1 } }] } },
  accounts: { newPerMinute: Number.MAX_SAFE_INTEGER },
  identify: ({ headers }) => ({
    account: headers.get('cookie') ?? '',
    limits: { requests: { day: 100 }, usd: { month: 5 } },
  }),
  fetch: async () => Response.json(chatResponse()),
})

let requestCount = 0
let served = 0

await send()
const startMs = processorMs()
const before = await fill(Number(warmUp))
const grownMiB = (await fill(Number(accounts))) - before
await gateway.close()
await storage.close?.()
const peakMiB = process.resourceUsage().maxRSS / 1_024
writeSync(1, `filled ${JSON.stringify({ served, startMs, peakMiB, grownMiB })}\n`)

/** Serves requests until this many accounts have been served. Resolves to the live memory, in MiB. */
async function fill(last: number): Promise<number> {
  const lane = async () => {
    while (requestCount < last) await send()
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  await sleep(500) // lets background writes finish
  collectGarbage()
  return process.memoryUsage().heapUsed / MIB
}

async function send(): Promise<void> {
  const response = await gateway.fetch('http://app.test/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json', cookie: `user_${requestCount++}` },
    body: JSON.stringify({ model: 'one/m', max_tokens: 1, messages: [] }),
  })
  await response.text()
  if (response.status === 200) served++
}

function processorMs(): number {
  const { user, system } = process.cpuUsage()
  return Math.round((user + system) / 1_000)
}
