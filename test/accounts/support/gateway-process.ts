import { writeSync } from 'node:fs'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { createGateway } from '../../../src/gateway.ts'
import type { Storage } from '../../../src/index.ts'
import { chatChunk, chatResponse } from '../../pipeline/support/responses.ts'
import { openStore } from '../../services/open-store.ts'
import { PLAN } from './app-processes.ts'
import { SECRET } from './first-requests.ts'

/*
 * A process with an app's gateway on a store that it shares with other processes: `serving <store>`. It caches each identity for 30 s. Each order is
 * a line `<number> <command> <user>`, and its result is a line `<number> <result>`. Orders run concurrently.
 */

const [location = ''] = process.argv.slice(2)
const { storage: opened, end } = await openStore(location)
let isUnavailable = false
let isSignedIn = true
let identified = 0
const providers: Array<() => void> = []
const streams: Promise<string>[] = []

const storage: Storage = {
  ...opened,
  get: (...args) => unlessAway(() => opened.get(...args)),
  set: (...args) => unlessAway(() => opened.set(...args)),
  delete: (...args) => unlessAway(() => opened.delete(...args)),
  list: (...args) => unlessAway(() => opened.list(...args)),
}
const gateway = createGateway({
  storage,
  ...(!storage.ownSecret && { secret: SECRET }),
  logger: false,
  catalog: { one: { baseUrl: 'http://one.test', models: [{ id: 'm', price: { input: 1, output: 1 } }] } },
  accounts: { defaultPlan: PLAN },
  identify: {
    resolve({ headers }) {
      identified++
      const account = headers.get('cookie')?.slice('s='.length)
      if (account === undefined || !isSignedIn) return null
      return account === 'payer' ? { account, limits: { usd: { day: 1 } } } : { account }
    },
    cacheBy: ({ headers }) => headers.get('cookie') ?? undefined,
    ttlMs: 30_000,
  },
  fetch: async (_: unknown, init?: RequestInit) =>
    String(init?.body).includes('"stream":true')
      ? openStream(init?.signal ?? undefined)
      : Response.json(chatResponse()),
})
const { api } = gateway

const commands: Record<string, (user: string) => Promise<unknown> | unknown> = {
  ask: async (user) => (await send(user)).status,
  /** Sends requests until the identity is cached. An account's first request changes its record, which drops the identity within a second. */
  async untilKept(user) {
    for (let idle = 0; idle < 40; ) {
      const before = identified
      await send(user)
      idle = identified === before ? idle + 1 : 0
      await sleep(50)
    }
  },
  /** Sends requests until one is rejected. Returns when the last accepted request began. */
  async untilRejected(user) {
    let acceptedAt = 0
    for (;;) {
      const startedAt = now()
      const { status } = await send(user)
      if (status !== 200) return JSON.stringify({ status, acceptedAt })
      acceptedAt = startedAt
      await sleep(5)
    }
  },
  async stream(user) {
    const { body, status } = await send(user, { stream: true })
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
    const first = await reader?.read()
    streams.push(readRest(reader, first?.value ?? ''))
    return status
  },
  streamEnd: () => streams.at(-1),
  finishStreams() {
    for (const finish of providers.splice(0)) finish()
  },
  signOut() {
    isSignedIn = false
  },
  revoke: (user) => api.accounts.revoke(user).then(now),
  pause: (user) => api.accounts.pause(user).then(now),
  loseStorage() {
    isUnavailable = true
  },
  findStorage() {
    isUnavailable = false
  },
  async used(user) {
    const { limits } = await api.accounts.limits.get(user)
    return JSON.stringify(limits.map(({ used, reserved }) => ({ used, reserved }))[0])
  },
  async close() {
    await gateway.close()
    await opened.close?.()
    await end()
  },
}

print('ready')
for await (const line of createInterface({ input: process.stdin })) {
  const [number = '', command = '', user = ''] = line.split(' ')
  const promise = Promise.resolve(commands[command]?.(user)).catch((error: unknown) => `failed ${error}`)
  const ending = promise.then((result) => print(`${number} ${result}`))
  if (command === 'close') {
    await ending
    process.exit()
  }
}

async function send(user: string, extra: object = {}): Promise<Response> {
  const response = await gateway.fetch('http://app.test/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json', cookie: `s=${user}` },
    body: JSON.stringify({ model: 'one/m', max_tokens: 1, messages: [], ...extra }),
  })
  if (!('stream' in extra)) await response.text()
  return response
}

/** Opens a stream that ends when the order `finishStreams` arrives. */
function openStream(signal: AbortSignal | undefined): Response {
  const encoder = new TextEncoder()
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(encoder.encode(chatChunk({ content: 'Once' })))
      signal?.addEventListener('abort', () => controller.error(signal.reason))
      providers.push(() => {
        controller.enqueue(encoder.encode(`${chatChunk({}, 'stop')}data: [DONE]\n\n`))
        controller.close()
      })
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

/** Resolves to the complete text of a stream, and the time it ended. */
async function readRest(reader: ReadableStreamDefaultReader<string> | undefined, first: string): Promise<string> {
  let text = first
  for (;;) {
    const { done = true, value = '' } = (await reader?.read()) ?? {}
    if (done) return JSON.stringify({ endedAt: now(), text })
    text += value
  }
}

async function unlessAway<T>(action: () => Promise<T>): Promise<T> {
  if (isUnavailable) throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
  return action()
}

function now(): number {
  return performance.timeOrigin + performance.now()
}

function print(line: string): void {
  writeSync(1, `${line}\n`)
}
