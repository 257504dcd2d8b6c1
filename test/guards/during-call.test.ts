import type { Guard } from '../../src/index.ts'
import { chatEvents, chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json, sse } from '../pipeline/support/upstream.ts'
import { assert, suite } from '../support/suite.ts'
import { openWorld, WORD } from './world.ts'

const test = suite('guards that check during the call')

/** Creates a promise and a function that resolves it. */
function createGate() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, opened }
}

/** Creates a guard that rejects the word once `opened` has resolved. */
const createGuard = (opened: Promise<void>, extra: Partial<Guard> = {}): Guard => ({
  ...{ name: 'd', stage: 'during', on: ['request'], ...extra },
  async check({ parts }) {
    await opened
    return parts.some(({ text }) => text.includes(WORD)) ? { verdict: 'refuse', category: 'word' } : undefined
  },
})

for (const stream of [false, true])
  test(`the response is held until the guard's verdict${stream ? ' (stream)' : ''}`, async () => {
    const { open, opened } = createGate()
    const { open: called, opened: isCalled } = createGate()
    const fetch = fakeUpstream(() => {
      called()
      return stream ? sse([...chatEvents()]) : json(chatResponse())
    })
    const { say } = await openWorld([createGuard(opened)], { options: { fetch } })
    let isAnswered = false
    const saying = say('openai-chat', 'Hi', { stream }).then((response) => {
      isAnswered = true
      return response
    })
    await isCalled
    for (let turn = 0; turn < 50; turn++) await Promise.resolve()
    assert.is(isAnswered, false)
    open()
    const response = await saying
    assert.is(response.status, 200)
    assert.match(await response.text(), 'Hello')
  })

for (const phase of ['before the response', 'after the response', 'after a stream has begun'])
  test(`a rejection ${phase} ends the provider call, and the client gets a 400`, async () => {
    const { open, opened } = createGate()
    const { open: called, opened: isCalled } = createGate()
    const fetch = fakeUpstream(async () => {
      called()
      if (phase === 'before the response') return new Promise<Response>(() => {})
      return phase === 'after the response' ? json(chatResponse()) : sse([...chatEvents()])
    })
    const { say, errors } = await openWorld([createGuard(opened)], { options: { fetch } })
    const saying = say('openai-chat', WORD, { stream: phase.includes('stream') })
    await isCalled
    if (phase !== 'before the response') await new Promise((resolve) => setTimeout(resolve, 20))
    open()
    const response = await saying
    assert.is(response.status, 400)
    const text = await response.text()
    assert.match(text, 'content_filter')
    assert.is(response.headers.get('x-signalbox-guards'), 'refused; name=d')
    await new Promise((resolve) => setTimeout(resolve, 20))
    assert.is(fetch.open, 0)
    assert.equal(errors, [])
  })

test('with `as: "answer"`, a rejected request gets a response without text', async () => {
  const { say } = await openWorld([createGuard(Promise.resolve(), { as: 'answer' })])
  const response = await say('openai-chat', WORD)
  assert.is(response.status, 200)
  assert.is(JSON.parse(await response.text()).choices[0].finish_reason, 'content_filter')
})

test('a request with a hosted tool is checked before the provider call', async () => {
  const { say, upstream } = await openWorld([createGuard(Promise.resolve())])
  const tools = [{ type: 'web_search_20250305', name: 'web_search' }]
  assert.is((await say('anthropic-messages', WORD, { body: { tools } })).status, 400)
  assert.is(upstream.calls.length, 0)
})

test('if a guard fails during the provider call, the request fails with a 503', async () => {
  const guard: Guard = { ...createGuard(Promise.resolve()), check: () => Promise.reject(new Error('down')) }
  const { say } = await openWorld([guard])
  assert.is((await say('openai-chat', 'Hi')).status, 503)
})

test("a provider's error doesn't wait for the verdict", async () => {
  const fetch = fakeUpstream(() => json({ error: { message: 'bad' } }, 400))
  const { say } = await openWorld([createGuard(new Promise(() => {}))], { options: { fetch } })
  const response = await say('openai-chat', 'Hi', { body: { max_tokens: -1 } })
  assert.is(response.status, 400)
})

test('text rejected during a call is removed from later calls of the same conversation', async () => {
  const ids: Guard = {
    ...createGuard(Promise.resolve()),
    check({ parts }) {
      const found = parts.filter(({ text }) => text.includes(WORD))
      return found.length > 0 ? { verdict: 'refuse', ids: found.map(({ id }) => id) } : undefined
    },
  }
  const { say, upstream } = await openWorld([ids])
  assert.is((await say('openai-chat', WORD)).status, 400)
  const messages = [
    { role: 'user', content: WORD },
    { role: 'assistant', content: 'No.' },
    { role: 'user', content: 'Hi' },
  ]
  assert.is((await say('openai-chat', '', { body: { messages } })).status, 200)
  assert.not.match(upstream.calls.at(-1)?.body ?? '', WORD)
})
