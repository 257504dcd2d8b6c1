import { http } from '../../src/features/guards/guards.ts'
import type { Guard } from '../../src/index.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { type Call, fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { assert, suite } from '../support/suite.ts'
import { openWorld, WORD } from './world.ts'

const test = suite('guards that call a service')

const service = { name: 'h', url: 'https://guard.test/check', on: ['request'] } as const

/** Opens a gateway with a guard service that responds with `verdict`. */
async function openServed(guard: Guard, verdict: (call: Call) => Response) {
  const fetch = fakeUpstream((call) => (call.provider === 'guard' ? verdict(call) : json(chatResponse())))
  return { ...(await openWorld([guard], { options: { fetch } })), calls: fetch.calls }
}

test('http: the guard service gets the text, and its verdict is enforced', async () => {
  const guard = http({ ...service, headers: { authorization: 'Bearer s3cret' } })
  const { say, calls } = await openServed(guard, ({ body }) =>
    json(body.includes(WORD) ? { verdict: 'refuse', category: 'word' } : { verdict: 'pass' }),
  )
  assert.is((await say('openai-chat', 'Hi')).status, 200)
  const rejected = await say('openai-chat', WORD)
  assert.is(rejected.status, 400)
  assert.not.match(await rejected.text(), 's3cret')
  const [{ init, headers, body } = { init: {}, headers: new Headers(), body: '' }] = calls
  assert.is(headers.get('authorization'), 'Bearer s3cret')
  assert.is(init.redirect, 'manual')
  const sent = JSON.parse(body)
  assert.is(sent.stage, 'request')
  assert.is(sent.input_type, 'request')
  assert.is(sent.final, true)
  assert.is(sent.request.path, '/v1/chat/completions')
  assert.equal(sent.texts, ['Hi'])
  assert.equal(sent.parts, [{ id: sent.parts[0].id, text: 'Hi', role: 'user', kind: 'text', isOlder: false }])
})

test('http: a category that repeats a header value is dropped', async () => {
  const guard = http({ ...service, headers: { authorization: 'Bearer s3cret-of-the-service' } })
  const { say, api } = await openServed(guard, ({ headers }) =>
    json({ verdict: 'refuse', category: `token ${headers.get('authorization')?.slice('Bearer '.length)}` }),
  )
  const rejected = await say('openai-chat', 'Hi')
  assert.is(rejected.status, 400)
  assert.not.match(await rejected.text(), 's3cret')
  const { requests } = await api.usage.requests()
  assert.is(requests[0]?.guards?.[0]?.verdict, 'refuse')
  assert.not.match(JSON.stringify(requests), 's3cret')
})

test("http: a service for LiteLLM's generic guardrail API works unchanged", async () => {
  const createFetch = (body: object) => async (text: string) => {
    const { say, upstream: _, calls } = await openServed(http({ ...service, changes: true }), () => json(body))
    const { status } = await say('openai-chat', text)
    return { status, sent: calls.find(({ provider }) => provider === 'one')?.body }
  }
  assert.is((await createFetch({ action: 'NONE' })('Hi')).status, 200)
  assert.is((await createFetch({ action: 'BLOCKED', blocked_reason: WORD })('Hi')).status, 400)
  const changed = await createFetch({ action: 'GUARDRAIL_INTERVENED', texts: ['Bye'] })('Hi')
  assert.is(changed.status, 200)
  assert.is(JSON.parse(changed.sent ?? '').messages[0].content, 'Bye')
})

test('http: an invalid verdict is treated as a guard failure', async () => {
  for (const response of [
    () => new Response('ok'),
    () => json({}),
    () => json({ verdict: 'allow' }),
    () => json({ action: 'ALLOW' }),
    () => json({ action: 'GUARDRAIL_INTERVENED', texts: [] }),
    () => new Response('', { status: 500 }),
    () => new Response(null, { status: 302, headers: { location: 'https://other.test' } }),
  ]) {
    const { say, calls } = await openServed(http(service), response)
    assert.is((await say('openai-chat', 'Hi')).status, 503)
    assert.equal(calls.length, 1)
  }
})

test('http: private addresses and unusable headers are rejected, without leaking a secret', () => {
  for (const [options, problem] of [
    [{ url: 'http://127.0.0.1/check' }, 'is a private address'],
    [{ url: 'http://[::1]/check' }, 'is a private address'],
    [{ url: 'http://metadata.internal/check' }, 'is a private address'],
    [{ url: 'ftp://guard.test' }, 'must begin with'],
    [{ url: 'https://a:b@guard.test' }, 'must not contain credentials'],
    [{ url: 'https://guard.test', headers: { authorization: 's3cret\n' + 'x' } }, 'http().headers'],
  ] as const) {
    let message = ''
    try {
      http({ name: 'h', ...options })
    } catch (error) {
      message = String(error)
    }
    assert.match(message, problem)
    assert.not.match(message, 's3cret')
  }
  http({ name: 'h', url: 'http://127.0.0.1/check', allowPrivate: true })
})
