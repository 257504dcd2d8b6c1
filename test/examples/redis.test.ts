import { createRequire } from 'node:module'
import { findRedis } from '../services/redis-server.ts'
import { assert } from '../support/suite.ts'
import { until } from './example.ts'
import {
  addWrongSecretTest,
  assertExitReason,
  type ServedExample,
  testExample,
  testMissingVariables,
} from './scenario.ts'

interface RedisClient {
  connect(): Promise<unknown>
  keys(pattern: string): Promise<string[]>
  unlink(keys: string[]): Promise<unknown>
  close(): Promise<void>
}

const redis = await findRedis()
/** A separate database, because other processes may use the server. */
const url = new URL('/13', redis.url).href

const test = testExample('redis', async () => {
  await removeData()
  return { address: '127.0.0.1:4000', env: { REDIS_URL: url } }
})
test.after(async () => {
  await removeData()
  await redis.remove()
})

test("two gateways share the port, and rotate through a combo's models without duplicates or gaps", async ({
  server,
}) => {
  await waitForBoth(server)
  const targets = []
  for (let requestCount = 0; requestCount < 8; requestCount++)
    targets.push((await chat(server)).headers.get('x-signalbox-target'))
  const turns = ['openai/gpt-5-mini', 'openai/gpt-5-nano']
  if (targets[0] !== turns[0]) turns.reverse()
  assert.equal(targets, [...turns, ...turns, ...turns, ...turns])
})

test('both gateways immediately reject a key that one of them has paused', async ({ server }) => {
  await waitForBoth(server)
  const { id, key } = await (await server.manage('POST', '/keys', { name: 'paused' })).json()
  for (let requestCount = 0; requestCount < 4; requestCount++) assert.is((await server.models(key)).status, 200)
  assert.is((await server.manage('PUT', `/keys/${id}`, { isActive: false })).status, 200)
  const isRejected = async () => (await server.models(key)).status === 403
  // A busy process may leave several connections in a row to the other one, so two rejections don't prove that both know about the pause.
  const isRejectedByAll = async () => {
    for (let requestCount = 0; requestCount < 8; requestCount++) if (!(await isRejected())) return false
    return true
  }
  await until(server.started, isRejectedByAll, 5_000)
  assert.ok(await isRejectedByAll())
})

test('after one gateway is killed, the port still responds and a new gateway replaces it', async ({ server }) => {
  const [killed = 0, other] = await waitForBoth(server)
  process.kill(killed, 'SIGKILL')
  await until(server.started, () => !isRunning(killed))
  for (let requestCount = 0; requestCount < 20; requestCount++) assert.is((await chat(server)).status, 200)
  const now = await waitForBoth(server)
  assert.ok(
    now.includes(other ?? 0) && !now.includes(killed),
    `${now} responded after ${killed} was killed and ${other} was left`,
  )
})

addWrongSecretTest(test)
test('the example exits with a one-line error if the server is unreachable', ({ server }) =>
  assertExitReason(
    server,
    { REDIS_URL: 'redis://127.0.0.1:1' },
    /^Redis cannot be reached \([^)]*ECONNREFUSED[^)]*\): check REDIS_URL and that the server runs\.$/,
  ))

testMissingVariables('redis', ['REDIS_URL', 'SIGNALBOX_SECRET', 'SIGNALBOX_ADMIN_TOKEN', 'APP_KEY', 'OPENAI_API_KEY'])

const chat = ({ url, secrets }: ServedExample) =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${secrets.APP_KEY}`,
      'content-type': 'application/json',
      connection: 'close', // a new connection may reach either gateway
    },
    body: JSON.stringify({ model: 'turns', messages: [{ role: 'user', content: 'Hello' }] }),
  })

/** Sends requests until two running processes have logged a response. Resolves to their IDs. */
function waitForBoth(server: ServedExample): Promise<number[]> {
  const { started } = server
  const before = started.output.length
  return until(started, async () => {
    assert.is((await chat(server)).status, 200)
    const printed = started.output.slice(before)
    const ids = [...printed.matchAll(/^(\d+) answered 200/gm)].map(([, id]) => Number(id)).filter(isRunning)
    const both = [...new Set(ids)]
    return both.length === 2 ? both : undefined
  })
}

async function removeData(): Promise<void> {
  const { createClient } = createRequire(import.meta.url)('redis') as { createClient(o: { url: string }): RedisClient }
  const client = createClient({ url })
  await client.connect()
  const keys = await client.keys('{signalbox}:*')
  if (keys.length > 0) await client.unlink(keys)
  await client.close()
}

function isRunning(id: number): boolean {
  try {
    process.kill(id, 0)
    return true
  } catch {
    return false
  }
}
