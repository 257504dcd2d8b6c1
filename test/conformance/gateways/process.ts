import { writeSync } from 'node:fs'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { createGateway } from '../../../src/gateway.ts'
import { openStore } from '../../services/open-store.ts'
import { now, type Order } from './orders.ts'

/*
 * A process with its own gateway: `process <place of the store> <secret> <token>`. Each input line is an order with a number, and each output line is
 * `<number> <result>`, with the result as JSON. Its only provider responds immediately with the model's name.
 */

const [location = '', secret = '', token = ''] = process.argv.slice(2)
const { storage } = await openStore(location)
const gateway = createGateway({
  storage,
  secret,
  logger: false,
  management: { token },
  fetch: async (request: Request | URL | string, init?: RequestInit) =>
    respond(await new Request(request, init).json()),
})

process.stdout.on('error', () => process.exit())
/** Resolves when the watch for a rejection has seen an accepted request. */
let accepted: Promise<void> | undefined

print('ready')
for await (const line of createInterface({ input: process.stdin })) {
  const { number, at, order }: { number: number; at: number; order: Order } = JSON.parse(line)
  while (now() < at); // all processes start at the same moment
  void carryOut(order).then(
    (result) => print(`${number} ${JSON.stringify(result ?? null)}`),
    (error: unknown) => print(`${number} ${JSON.stringify({ error: String(error) })}`),
  )
}
process.exit()

async function carryOut(order: Order): Promise<unknown> {
  switch (order.does) {
    case 'calls':
      return call(order)
    case 'asks':
      return send(order)
    case 'watches for a refusal':
      return watchForRejection(order.key)
    case 'waits until one was accepted':
      return accepted
    case 'adds':
      return add(order.times)
    case 'reads the sum':
      return Number((await storage.get('sum'))?.value)
    case 'changes':
      return change(order)
    case 'puts a key':
      return gateway.api.keys.put(order.input)
  }
}

/** Sends one request to the management API. Returns the reply and its time. */
async function call({ method, path, body }: { method: string; path: string; body?: unknown }) {
  const response = await gateway.fetch(
    new Request(`http://gateway${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }),
  )
  return { status: response.status, body: await response.json(), at: now() }
}

/** Sends this many concurrent requests. Returns the models that responded. */
async function send({ key, model, times }: { key: string; model: string; times: number }): Promise<string[]> {
  return Promise.all(Array.from({ length: times }, async () => (await complete(key, model)).text))
}

async function complete(key: string, model: string) {
  const response = await gateway.fetch(
    new Request('http://gateway/v1/chat/completions', {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
    }),
  )
  const body = await response.json()
  return {
    status: response.status,
    text: response.ok ? String(body.model) : `${response.status} ${JSON.stringify(body)}`,
  }
}

/** Sends requests until 20 in a row are rejected. Returns the time of the first rejection, and the start of the last accepted request. */
async function watchForRejection(key: string) {
  let accept = () => {}
  accepted = new Promise((resolve) => {
    accept = resolve
  })
  const seen = { lastAccepted: 0, firstRefused: 0, others: '' }
  for (let refusals = 0; refusals < 20 && !seen.others; ) {
    const startedAt = now()
    const { status, text } = await complete(key, 'openai/gpt-5')
    if (status === 403) {
      refusals++
      seen.firstRefused ||= now()
    } else if (status === 200) {
      refusals = 0
      seen.lastAccepted = startedAt
      accept()
    } else {
      seen.others = text
      accept()
    }
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  return seen
}

/** Increments a value in the storage by reading and writing it. */
async function add(times: number): Promise<void> {
  for (let done = 0; done < times; ) {
    const stored = await storage.get('sum')
    const next = String(Number(stored?.value ?? 0) + 1)
    if ((await storage.set('sum', next, { ifVersion: stored?.version ?? null })) !== false) done++
  }
}

/** Changes one field of a record repeatedly. Returns how often its last value was lost before the next change. */
async function change({ path, member, values }: { path: string; member: string; values: unknown[] }) {
  const lost: unknown[] = []
  let last: unknown
  for (const value of values) {
    const { status, body } = await call({ method: 'PATCH', path, body: { [member]: value } })
    if (status !== 200 || JSON.stringify(body[member]) !== JSON.stringify(value)) lost.push({ status, value, body })
    const before = (await call({ method: 'GET', path })).body[member]
    if (JSON.stringify(before) !== JSON.stringify(value)) lost.push({ value, before })
    last = value
  }
  return { lost: lost.slice(0, 3), last }
}

function respond({ model }: { model: string }): Response {
  return Response.json({
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  })
}

function print(line: string): void {
  writeSync(1, `${line}\n`)
}
