import { judge, pii, words } from '../../src/features/guards/guards.ts'
import type { Guard, RequestRecord } from '../../src/index.ts'
import { chatChunk, chatEvents } from '../pipeline/support/responses.ts'
import { fakeUpstream, never, sse } from '../pipeline/support/upstream.ts'
import { assert, suite } from '../support/suite.ts'
import { openWorld, WORD } from './world.ts'

const test = suite('guarded requests that clients cancel')

/** Creates a guard that never returns a verdict. `aborted` counts how often it was aborted. */
function createHanging(on: 'request' | 'answer') {
  let aborted = 0
  let calls = 0
  const guard: Guard = {
    ...{ name: 'hanging', on: [on], timeoutMs: 60_000 },
    check: (_, { signal }) => {
      calls++
      signal.addEventListener('abort', () => aborted++)
      return never()
    },
  }
  return { guard, counts: () => ({ calls, aborted }) }
}

const until = async (isDone: () => boolean) => {
  while (!isDone()) await new Promise((resolve) => setTimeout(resolve, 1))
}

/** Opens a gateway with a key that allows one concurrent request, so a request that isn't released blocks the next one. */
async function open(guards: readonly Guard[], fetch: ReturnType<typeof fakeUpstream>) {
  const records: RequestRecord[] = []
  const errors: unknown[] = []
  const world = await openWorld(guards, {
    options: {
      fetch,
      hooks: { onRequest: (record) => void records.push(record), onError: (error) => void errors.push(error) },
    },
  })
  const { key } = await world.api.keys.create({ name: 'k', limits: { parallel: 1 } })
  const send = (signal?: AbortSignal, body: object = {}) =>
    world.fetch(
      new Request('http://gateway/v1/chat/completions', {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
        body: JSON.stringify({ model: 'one/m', stream: true, messages: [{ role: 'user', content: 'Hi' }], ...body }),
        ...(signal && { signal }),
      }),
    )
  return { world, send, records, errors }
}

const SAID = [chatChunk({ role: 'assistant', content: 'One. ' }), chatChunk({ content: 'Two ' })]

test('if a client disconnects while a guard checks its request, the guard is aborted once', async () => {
  const { guard, counts } = createHanging('request')
  const upstream = fakeUpstream(() => sse(chatEvents()))
  const { send, records } = await open([guard], upstream)
  for (let round = 1; round <= 2; round++) {
    const controller = new AbortController()
    const sending = send(controller.signal)
    await until(() => counts().calls === round)
    controller.abort()
    assert.is((await sending).status, 499)
    assert.equal(counts(), { calls: round, aborted: round })
    await until(() => records.length === round)
    assert.is(records.at(-1)?.status, 499)
  }
  assert.is(upstream.calls.length, 0)
})

test("a client disconnect during a judge's check aborts the judge call", async () => {
  const upstream = fakeUpstream(never)
  const { send, records } = await open(
    [judge({ name: 'j', model: 'one/judge', policy: 'p', on: ['request'] })],
    upstream,
  )
  for (let round = 1; round <= 2; round++) {
    const controller = new AbortController()
    const sending = send(controller.signal)
    await until(() => upstream.calls.length === round)
    controller.abort()
    assert.is((await sending).status, 499)
    assert.is(upstream.open, 0)
    await until(() => records.some(({ status }) => status === 499))
  }
})

for (const phase of ['text is held', 'a guard checks the response'])
  test(`if a client disconnects from a stream while ${phase}, every open call is aborted`, async () => {
    const { guard, counts } = createHanging('answer')
    const isHeld = phase === 'text is held'
    const all: Guard = { name: 'all', hold: 'all', on: ['answer'], check: () => undefined }
    const upstream = fakeUpstream(() => sse(SAID, isHeld ? 'hang' : 'close'))
    const { send, records } = await open([isHeld ? all : guard], upstream)
    for (let round = 1; round <= 2; round++) {
      const controller = new AbortController()
      const response = await send(controller.signal)
      assert.is(response.status, 200)
      const reading = response.text().catch(String)
      if (isHeld) await until(() => upstream.pulled > 0)
      else await until(() => counts().calls === round)
      await new Promise((resolve) => setTimeout(resolve, 5))
      controller.abort()
      await until(() => records.length === round)
      assert.is(upstream.open, 0)
      if (!isHeld) assert.equal(counts(), { calls: round, aborted: round })
      assert.is(records.at(-1)?.end, 'aborted')
      assert.not.match(await reading, 'Two')
    }
  })

test("a rejected stream's usage record contains the guard, the tokens so far, and one attempt", async () => {
  const upstream = fakeUpstream(() => sse([...SAID, chatChunk({ content: `${WORD} ` })], 'hang'))
  const { send, records, errors } = await open([words({ name: 'w', words: [WORD] })], upstream)
  for (let round = 1; round <= 2; round++) {
    const text = await (await send()).text()
    assert.match(text, 'content_filter')
    await until(() => records.length === round)
    assert.is(upstream.open, 0)
    const { servedBy, usage, attempts, streamed } = records.at(-1) ?? {}
    assert.equal([servedBy, streamed, attempts?.length], ['guard', true, 1])
    assert.ok((usage?.inputTokens ?? 0) > 0)
    assert.ok((usage?.outputTokens ?? 0) >= 3, JSON.stringify(usage))
  }
  assert.equal(errors, [])
})

test('a client disconnect after a rejection has no effect', async () => {
  const upstream = fakeUpstream(() => sse([...SAID, chatChunk({ content: `${WORD} ` })], 'hang'))
  const { send, records } = await open([words({ name: 'w', words: [WORD] })], upstream)
  const controller = new AbortController()
  const response = await send(controller.signal)
  const reader = response.body?.getReader()
  let text = ''
  while (!text.includes('[DONE]')) text += new TextDecoder().decode((await reader?.read())?.value)
  controller.abort()
  await reader?.cancel()
  await until(() => records.length === 1)
  assert.is((await send()).status, 200)
})

test("a rejected stream isn't retried on the next target, and starts no cooldown", async () => {
  const upstream = fakeUpstream(() => sse([...SAID, chatChunk({ content: `${WORD} ` })], 'hang'))
  const { world, send } = await open([words({ name: 'w', words: [WORD] })], upstream)
  await world.api.combos.create({ name: 'both', models: ['one/m', 'one/n'] })
  for (let round = 1; round <= 6; round++) {
    assert.match(await (await send(undefined, { model: 'both' })).text(), 'content_filter')
    assert.is(upstream.calls.length, round)
    assert.is(JSON.parse(upstream.calls.at(-1)?.body ?? '{}').model, 'm')
  }
})

test("concurrent requests don't mix up their masked values", async () => {
  const upstream = fakeUpstream(({ body }) => {
    const placeholder = /EMAIL-1-\w+/.exec(body)?.[0] ?? ''
    return sse([...SAID, ...[...placeholder].map((content) => chatChunk({ content })), ...chatEvents().slice(-3)])
  })
  const world = await openWorld([pii({ name: 'm', types: ['email'], action: 'mask' })], {
    options: { fetch: upstream },
  })
  const addresses = Array.from({ length: 20 }, (_, index) => `user${index}@example.com`)
  const texts = await Promise.all(
    addresses.map(async (address) => {
      const response = await world.say('openai-chat', address, { stream: true })
      return [...(await response.text()).matchAll(/"content":"([^"]*)"/g)].map(([, piece]) => piece).join('')
    }),
  )
  assert.equal(
    texts,
    addresses.map((address) => `One. Two ${address}`),
  )
})

test('a guard that fails mid-stream ends the stream with an error, without sending the unchecked text', async () => {
  let calls = 0
  const failing: Guard = {
    ...{ name: 'f', on: ['answer'] },
    check: () => {
      if (calls++ > 1) throw new Error('down')
      return undefined
    },
    maxMatch: 1,
  }
  const upstream = fakeUpstream(() =>
    sse([
      chatChunk({ role: 'assistant', content: 'One. ' }),
      chatChunk({ content: 'Two. ' }),
      ...chatEvents().slice(-3),
    ]),
  )
  const { send, records } = await open([failing], upstream)
  for (let round = 1; round <= 2; round++) {
    calls = 0
    const text = await (await send()).text()
    assert.match(text, 'One.')
    assert.not.match(text, 'Three')
    assert.match(text, 'guard_unavailable')
    assert.not.match(text, '"stop"')
    await until(() => records.length === round)
    assert.is(upstream.open, 0)
    assert.is(records.at(-1)?.end, 'cut')
  }
})
