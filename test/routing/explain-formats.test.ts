import { fault } from '../pipeline/support/fault.ts'
import { catalog } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'
import { getLines } from './support/explain.ts'
import { openPool } from './support/pool.ts'

const test = suite('explanations with unhealthy targets and unsupported requests')

/** A request for several choices, which the Messages format doesn't support. */
const body = { n: 2, messages: [{ role: 'user', content: 'hi' }] }

/** Returns each target's predicted use from an explanation, and the targets that a request then calls. */
async function predict(pool: Awaited<ReturnType<typeof openPool>>) {
  const uses = (await getLines(pool, { body })).map((line) => line.split(':')[0])
  return { uses, called: await pool.sendAll(1, body) }
}

/** Opens a combo in which `claude` uses the Messages format. Puts the providers in `seconds` in cooldown for that long. */
async function openCooling(models: string[], seconds: Record<string, number>) {
  const connections = ['claude', 'one', 'two']
  const limited: Record<string, () => Response> = {}
  const pool = await openPool(models, { connections, catalog, respond: ({ provider }) => send(provider) })
  const send = (provider: string) => (limited[provider] ?? fault(500, 'nobody asked'))()
  for (const [provider, wait] of Object.entries(seconds)) {
    limited[provider] = fault(429, 'slow', { 'retry-after': String(wait) })
    await pool.world.chat({ model: models.find((model) => model.startsWith(`${provider}/`)) })
  }
  pool.upstream.calls.length = 0
  return pool
}

test("a target in cooldown is the last resort if the healthy target doesn't support the request", async () => {
  const { uses, called } = await predict(await openCooling(['claude/c', 'one/m'], { one: 30 }))
  assert.equal([uses, called], [['claude skipped', 'one last-resort'], 'one'])
})

test('the last resort is the supporting target that recovers first', async () => {
  const pool = await openCooling(['claude/c', 'one/m', 'two/m'], { claude: 10, one: 40, two: 30 })
  const { uses, called } = await predict(pool)
  assert.equal([uses, called], [['claude skipped', 'one skipped', 'two last-resort'], 'two'])
})

test('if no target supports the request, explain reports that error, regardless of cooldowns', async () => {
  const pool = await openCooling(['claude/c', 'claude/d'], { claude: 10 })
  const { uses, called } = await predict(pool)
  assert.equal([uses, called], [['claude skipped', 'claude skipped'], ''])
  const { error } = await pool.world.api.explain({ model: 'pool', body })
  const response = await pool.world.chat({ model: 'pool', ...body })
  assert.equal([error?.status, response.status, response.headers.get('retry-after')], [400, 400, null])
})

test("no attempt is reserved for a target that doesn't support the request", async () => {
  const connections = ['one', { provider: 'one', name: 'spare' }, { provider: 'one', name: 'third' }, 'claude']
  const pool = await openPool(['one/m', 'claude/c'], { connections, catalog, respond: fault(500, 'down') })
  const { uses, called } = await predict(pool)
  assert.equal(uses, ['one first', 'one next', 'one next', 'claude beyond'])
  assert.is(called, 'one>one>one')
})
