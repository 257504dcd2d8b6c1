import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { openWorld, token } from '../pipeline/support/world.ts'
import { isCi, randomCases } from '../support/ci.ts'
import { eachHostile } from '../support/hostile-values.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('JSON values of any type in any field of an /api body')

const prices = { m: { input: 1, output: 2, images: { '4K': 1 }, tiers: [{ above: 9, input: 3 }] } }
const rules = {
  health: { failureShare: 0.5, windowMs: 5_000, minCalls: 2, cooldownMs: 9, maxCooldownMs: 99 },
  timeouts: { headersMs: 9, idleMs: 9, totalMs: 9 },
  maxAttempts: 2,
}
const limits = { requests: { minute: 5 }, tokens: { day: 9 }, usd: { month: 2 }, parallel: 3 }
const access = { models: ['one/*'], kinds: ['llm'], limits }

/** A body with most fields for each operation that takes one. `:id` stands for the ID of the record created by the first body under the same path. */
const bodies: ReadonlyArray<readonly [method: string, path: string, body: object]> = [
  ['POST', '/api/keys', { name: 'a', metadata: { team: 'x' }, expiresAt: '2030-01-01T00:00:00Z', ...access }],
  ['PUT', '/api/keys/:id', { name: 'a', isActive: true, metadata: { team: 'x' }, ...access }],
  ['POST', '/api/groups', { name: 'g', ...access }],
  ['PUT', '/api/groups/:id', { name: 'g', isActive: true, ...access }],
  [
    'POST',
    '/api/connections',
    {
      ...{ provider: 'one', name: 'c', apiKey: 'k', priority: 1, isActive: true, draining: false, prices },
      providerSpecificData: { prefix: 'p', enabledModels: ['m'], baseUrl: 'http://x.test/v1', voices: { a: 'b' } },
    },
  ],
  [
    'PUT',
    '/api/connections/:id',
    { name: 'c', priority: 2, apiKey: 'k', prices, providerSpecificData: { prefix: 'q' } },
  ],
  [
    'POST',
    '/api/combos',
    {
      ...{ name: 'c', strategy: 'round-robin', on: ['schema'], stickyLimit: 2, hedge: true, ...rules },
      models: [{ model: 'one/m', weight: 2, params: { maxTokens: 5, temperature: 1 } }, 'two/m'],
    },
  ],
  ['PUT', '/api/combos/:id', { models: ['one/m'], strategy: 'fallback', ...rules }],
  [
    'PATCH',
    '/api/settings',
    { requireApiKey: false, usage: { keepRequestsDays: 3, keepTotalsDays: 9 }, limits, ...rules },
  ],
  ['PUT', '/api/models/aliases', { alias: 'a', model: 'one/m' }],
  ['POST', '/api/models/custom', { providerAlias: 'one', id: 'x', type: 'llm', prices: prices.m }],
  ['PUT', '/api/providers/one', { strategy: 'round-robin', stickyLimit: 2 }],
  ['POST', '/api/explain', { model: 'one/m' }],
  [
    'POST',
    '/api/tokens',
    { account: 'a', models: ['m'], kinds: ['llm'], origins: ['https://a.example'], limits, expiresIn: 60 },
  ],
  [
    'POST',
    '/api/try',
    { path: '/v1/chat/completions', body: { model: 'one/m', messages: [{ role: 'user', content: 'x' }] } },
  ],
]

for (const [method, path, body] of bodies)
  test(`no body sent to ${method} ${path} causes an internal error`, async () => {
    const { gateway, recorded } = await openWorld({ fetch: fakeUpstream(() => json(chatResponse())) })
    const send = (mode: string, at: string, text: string) =>
      gateway.fetch(
        new Request(`http://gateway${at}`, {
          method: mode,
          body: text,
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        }),
      )
    const folder = path.replace('/:id', '')
    const first = bodies.find(([, at]) => at === folder)?.[2]
    const { id } = path === folder ? { id: '' } : await (await send('POST', folder, JSON.stringify(first))).json()
    const at = path.replace(':id', id)
    const plain = await send(method, at, JSON.stringify(body))
    assert.ok(plain.ok, `${plain.status} ${await plain.text()}`)
    await eachHostile({ body, isEach: isCi, runs: randomCases(500, 40) }, async (text) => {
      const response = await send(method, at, text)
      const responseBody = await response.text()
      assert.is.not(response.status, 500, `${text} ${responseBody}`)
      assert.equal(recorded.errors.map(String), [], text)
    })
  })
