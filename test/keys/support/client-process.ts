import { writeSync } from 'node:fs'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { setImmediate } from 'node:timers/promises'
import { fileStorage } from '../../../adapters/storage/file.ts'
import { redisStorage } from '../../../adapters/storage/redis.ts'
import { createGateway } from '../../../src/gateway.ts'
import { openClient } from '../../services/redis-clients.ts'

/*
 * A process with its own gateway on a shared folder or Redis, under load from clients with one key: `asking <place> <secret> <key> <id>`. At "ask",
 * two clients start sending requests without pausing. At "pause", it pauses the key. After rejecting enough requests, it prints what it saw. At
 * "add", it increments a value in the storage 200 times, with a read and a write each.
 */

const [location = '', secret = '', key = '', id = ''] = process.argv.slice(2)
const BEFORE = 20
const AFTER = 200

const completion = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
}
const storage = location.startsWith('redis:')
  ? redisStorage((await openClient('ioredis', location)).client)
  : fileStorage({ path: location, logger: false })
const gateway = createGateway({
  storage,
  secret,
  logger: false,
  fetch: async () => Response.json(completion),
})
const now = () => performance.timeOrigin + performance.now()

/** The start of the last accepted request, and the arrival of the first rejection. A later acceptance is an error. */
const seen = { accepted: 0, rejected: 0, lastAccepted: 0, firstRejected: Number.POSITIVE_INFINITY, back: 0, others: '' }

if (key) await send()
print('ready')
for await (const order of createInterface({ input: process.stdin })) {
  if (order === 'ask') void Promise.all([load(), load()]).then(() => print(`saw ${JSON.stringify(seen)}`))
  if (order === 'pause') {
    await gateway.api.keys.update(id, { isActive: false })
    print(`paused ${now()}`)
  }
  if (order === 'add') void add().then(() => print('added'))
  if (order === 'end') process.exit()
}

async function add(): Promise<void> {
  for (let done = 0; done < 200; ) {
    const stored = await storage.get('sum')
    const next = String(Number(stored?.value ?? 0) + 1)
    if ((await storage.set('sum', next, { ifVersion: stored?.version ?? null })) !== false) done++
  }
}

async function load(): Promise<void> {
  while (seen.rejected < AFTER) {
    await send()
    await setImmediate()
    if (seen.accepted === BEFORE) print('under load')
  }
}

async function send(): Promise<void> {
  const startedAt = now()
  const response = await gateway.fetch('http://gateway/v1/chat/completions', {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'openai/gpt-5', messages: [] }),
  })
  const text = await response.text()
  if (response.status === 200) {
    seen.accepted++
    seen.lastAccepted = Math.max(seen.lastAccepted, startedAt)
    if (startedAt > seen.firstRejected) seen.back++
  } else if (response.status === 403) {
    seen.rejected++
    seen.firstRejected = Math.min(seen.firstRejected, now())
  } else seen.others = text
}

function print(line: string): void {
  writeSync(1, `${line}\n`)
}
