import { busyMs, roundsUntil } from '../support/cpu-time.ts'
import { assert, suite } from '../support/suite.ts'
import { chatEvents, chatResponse, messageEvents } from './support/responses.ts'
import { fakeUpstream, json, sse } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('credentials that a provider quotes')

const SECRET = 'sk-A/quoted+Secret=='
const SPELLINGS = [SECRET, `Bearer ${SECRET}`]
const connections = [
  { provider: 'one', apiKey: SECRET },
  { provider: 'claude', apiKey: SECRET },
]

async function open(respond: () => Response) {
  const logged: unknown[] = []
  const log = (...line: unknown[]) => void logged.push(line)
  const logger = { debug: log, info: log, warn: log, error: log }
  const world = await openWorld({ fetch: fakeUpstream(respond), connections, logger })
  async function assertKept(response: Response, label: string): Promise<string> {
    const shown = (await response.text()) + JSON.stringify([...response.headers])
    const { attempts, requests, usages, errors } = world.recorded
    const health = await world.api.health.list()
    const all = shown + JSON.stringify([attempts, requests, usages, errors.map(String), logged, health])
    assert.not.ok(all.replaceAll('\\/', '/').includes(SECRET), `${label}: ${all}`)
    return shown
  }
  return { world, assertKept }
}

for (const status of [400, 401, 404, 429, 500, 503]) {
  test(`a credential quoted in the body of a ${status} is removed, whether plain, in JSON, or encoded`, async () => {
    for (const output of SPELLINGS) {
      const bodies = [
        JSON.stringify({ error: { message: `Bad: ${output}` } }),
        JSON.stringify({ error: { message: 'Bad', debug: { headers: [output] } } }),
        JSON.stringify({ error: { message: 'Bad', debug: output } }).replaceAll('/', '\\/'),
        JSON.stringify({ type: 'error', error: { type: 'x', message: `Bad: ${output}` } }),
        `Bad: ${output}`,
      ]
      for (const body of bodies) {
        const { world, assertKept } = await open(() => json(body, status))
        await assertKept(await world.chat({}), body)
        await assertKept(await world.messages({}), body)
        await assertKept(await world.messages({ model: 'one/m' }), body)
      }
    }
  })
}

test("a credential quoted in an error's header is removed", async () => {
  const error = { error: { message: 'no' } }
  const { world, assertKept } = await open(() => json(error, 429, { 'x-debug': `Bearer ${SECRET}`, 'x-other': 'kept' }))
  const response = await world.chat({})
  assert.is(response.headers.get('x-other'), 'kept')
  assert.match(await assertKept(response, 'a header'), /"no"/)
})

/** Made-up keys. */
const SHAPES = [
  'sk-proj-abcDEF0123456789abcDEF0123456789',
  'sk-ant-api03-abcDEF0123456789_abcDEF-0123456789',
  `AIza${'SyA1b2C3d4'.repeat(4).slice(0, 35)}`,
  'AKIAIOSFODNN7EXAMPLE',
  'gsk_abcDEF0123456789abcDEF0123456789',
  'xai-abcDEF0123456789abcDEF0123456789',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P',
  'ya29.abcDEF0123456789abcDEF0123456789',
]

for (const status of [400, 429, 500]) {
  test(`anything in a ${status} that looks like a credential is redacted, and the rest is unchanged`, async () => {
    for (const shape of SHAPES) {
      for (const [output, kept] of [
        [`Key ${shape} is odd`, 'Key [credential] is odd'],
        [`Authorization: Bearer ${shape}`, 'Authorization: Bearer [credential]'],
        [`see https://user:${shape}@host.test/v1`, '[credential]@host.test/v1'],
      ] as const) {
        const { world } = await open(() => json({ error: { message: output, n: 1 } }, status, { 'x-debug': output }))
        for (const response of [await world.chat({}), await world.messages({ model: 'one/m' })]) {
          const text = await response.text()
          assert.not.ok((text + JSON.stringify([...response.headers, world.recorded])).includes(shape), text)
          assert.ok(text.includes(kept), text)
        }
        const { error } = JSON.parse(await (await world.chat({})).text())
        assert.is(error.n, 1)
      }
    }
  })
}

test('a long error message full of credential prefixes is passed through without delay', async () => {
  for (const piece of ['eyJ-', 'sk-', 'AIza-', 'bearer ', '://a:']) {
    const output = piece.repeat(60_000 / piece.length)
    const { world } = await open(() => json({ error: { message: output } }, 400))
    const times = await roundsUntil(400, async () => {
      const before = busyMs()
      const response = await world.chat({})
      await response.text()
      assert.is(response.status, 400)
      return busyMs() - before
    })
    assert.ok(Math.min(...times) <= 400, `${piece}: ${times} ms`)
  }
})

test("words that only resemble a credential aren't redacted", async () => {
  for (const output of [
    'Missing bearer or basic authentication in header',
    'The task-force-of-many-members is not a model',
    'risk_assessment_of_something_long, see https://example.test:8080/path@latest',
    'pplx-70b-online-and-then-some is gone; hf_transformers_is_a_name',
  ]) {
    const { world } = await open(() => json({ error: { message: output } }, 400))
    assert.equal(JSON.parse(await (await world.chat({})).text()), { error: { message: output } })
  }
})

test("an unused connection's credential quoted in an error is redacted", async () => {
  const other = 'the+key-of/another+account'
  const spare = { provider: 'two', apiKey: other }
  for (const status of [400, 429, 500]) {
    for (const body of [`Shared with ${other}`, JSON.stringify({ error: { message: other, debug: `x${other}` } })]) {
      const upstream = fakeUpstream(() => json(body, status, { 'x-debug': other }))
      const world = await openWorld({ fetch: upstream, connections: ['one', spare] })
      const response = await world.chat({})
      const shown = (await response.text()) + JSON.stringify([[...response.headers], world.recorded])
      assert.not.ok(shown.includes(other), shown)
      assert.ok(shown.includes('[credential]'), shown)
    }
  }
})

test('account IDs are removed from response and error headers', async () => {
  const account = { 'openai-organization': 'org-1', 'openai-project': 'proj-1', 'anthropic-organization-id': 'a-1' }
  for (const status of [200, 400, 500]) {
    const body = status === 200 ? chatResponse() : { error: { message: 'no' } }
    const { world } = await open(() => json(body, status, { ...account, 'openai-version': '2020-10-01' }))
    const { headers } = await world.chat({})
    assert.is(headers.get('openai-version'), '2020-10-01')
    for (const name of Object.keys(account)) assert.is(headers.get(name), null)
  }
})

test('the body of a successful response is passed through unchanged', async () => {
  const response = { ...chatResponse(`Use ${SHAPES.join(' or ')}`), id: SHAPES[0] }
  const { world } = await open(() => json(response))
  assert.equal(await (await world.chat({})).json(), response)
})

test('anything in a mid-stream error that looks like a credential is redacted', async () => {
  const [shape = ''] = SHAPES
  const error = `data: ${JSON.stringify({ error: { message: `Bad: ${shape}` } })}\n\n`
  for (const request of ['chat', 'messages'] as const) {
    const { world } = await open(() => sse([...chatEvents(shape).slice(0, 2), error]))
    const text = await (await world[request]({ model: 'one/m', stream: true })).text()
    assert.match(text, 'Bad: [credential]')
    assert.is(text.split(shape).length, 2, 'only the model output contains it')
  }
})

const chatError = `data: ${JSON.stringify({ error: { message: `Bad: ${SECRET}` } })}\n\n`
const messageError = `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type: 'api_error', message: `Bad: ${SECRET}` } })}\n\n`

test('a mid-stream error that quotes a credential is replaced by another error', async () => {
  for (const rest of ['', 'data: [DONE]\n\n', 'data: [DONE]']) {
    for (const glued of [false, true]) {
      const events = [...chatEvents().slice(0, 3), chatError + rest]
      const { world, assertKept } = await open(() => sse(glued ? [events.join('')] : events))
      const text = await assertKept(await world.chat({ stream: true }), `${rest} ${glued}`)
      assert.is(text.includes('Hello '), !glued, 'everything in the same chunk is dropped')
      assert.match(
        text,
        /data: \{"error":\{"message":"The provider's response contained the connection's credential\."[^\n]*\n\n\[/,
      )
      assert.is(world.recorded.requests[0]?.status, 502)
    }
  }
  const output = [...messageEvents().slice(0, 5), messageError]
  const { world, assertKept } = await open(() => sse(output))
  assert.match(
    await assertKept(await world.messages({ stream: true }), 'messages'),
    /event: error\ndata: [^\n]*contained the connection's credential/,
  )
})

test('a credential quoted in a mid-stream error without a blank line is removed', async () => {
  const { world, assertKept } = await open(() => sse([...chatEvents().slice(0, 3), chatError.trimEnd()]))
  assert.match(
    await assertKept(await world.chat({ stream: true }), 'no blank line'),
    /contained the connection's credential/,
  )
})

test('a credential quoted in a translated error is removed, mid-stream and before the first content', async () => {
  const started = await open(() => sse([...chatEvents().slice(0, 3), chatError]))
  const translated = await started.assertKept(
    await started.world.messages({ model: 'one/m', stream: true }),
    'translated',
  )
  assert.match(translated, /event: error\ndata: [^\n]*Bad: \[credential\]/)
  const first = await open(() => sse(chatError))
  assert.match(await first.assertKept(await first.world.chat({ stream: true }), 'first'), /Bad: \[credential\]/)
})
