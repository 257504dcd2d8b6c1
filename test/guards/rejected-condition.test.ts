import { words } from '../../src/features/guards/guards.ts'
import type { Guard } from '../../src/index.ts'
import { chatChunk, chatEvents, chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json, sse } from '../pipeline/support/upstream.ts'
import { assert, suite } from '../support/suite.ts'
import { openWorld, WORD, w } from './world.ts'

const test = suite('combos that fall back after a rejected response')

/** Opens a gateway with a combo of two models. The first model's text contains the word, and the second's text is `second`. */
async function open(guard: Guard, second: string, { isPlain = false } = {}) {
  const upstream = fakeUpstream(({ body }) => {
    const { model, stream } = JSON.parse(body)
    const text = model === 'm' ? `It is ${WORD}.` : second
    const events = [...[...text].map((content) => chatChunk({ content })), ...chatEvents().slice(-3)]
    return stream ? sse(events) : json(chatResponse(text))
  })
  const world = await openWorld([guard], { options: { fetch: upstream, usage: true } })
  await world.api.combos.create({ name: 'both', models: ['one/m', 'one/n'], ...(!isPlain && { on: ['refused'] }) })
  const sendChat = async (stream: boolean) => {
    const response = await world.say('openai-chat', 'Hi', { stream, body: { model: 'both' } })
    const text = await response.text()
    const output = [...text.matchAll(/"content":"([^"]*)"/g)].map(([, piece]) => piece).join('')
    return { status: response.status, output, text, header: response.headers.get('x-signalbox-guards') }
  }
  return { say: sendChat, upstream, api: world.api }
}

for (const guard of [w, words({ name: 'built-in', words: [WORD] })])
  for (const stream of [false, true]) {
    const manner = `${guard.name}${stream ? ', stream' : ''}`
    test(`a request falls back to the next target when a guard rejects the response (${manner})`, async () => {
      const { say, upstream, api } = await open(guard, 'Fine.')
      const { status, output, header } = await say(stream)
      assert.equal([status, output], [200, 'Fine.'])
      assert.is(header, stream ? 'held' : null)
      assert.is(upstream.calls.length, 2)
      const [record] = (await api.usage.requests()).requests
      assert.equal(
        record?.attempts?.map(({ outcome }) => outcome),
        ['filtered', 'answered'],
      )
      assert.ok(record?.guards?.some(({ stage, verdict }) => stage === 'answer' && verdict === 'refuse'))
    })

    test(`if every target's response is rejected, the client gets a rejected response (${manner})`, async () => {
      const { say, upstream } = await open(guard, `${WORD} too.`)
      const { status, text } = await say(stream)
      assert.is(status, 200)
      assert.not.match(text, WORD)
      assert.match(text, '"finish_reason":"content_filter"')
      assert.is(upstream.calls.length, 2)
    })

    test(`without \`on: ["refused"]\`, a rejected response ends the request (${manner})`, async () => {
      const { say, upstream } = await open(guard, 'Fine.', { isPlain: true })
      assert.match((await say(stream)).text, '"finish_reason":"content_filter"')
      assert.is(upstream.calls.length, 1)
    })
  }

test('without response guards, `on: ["refused"]` has no effect', async () => {
  const { say, upstream } = await open({ name: 'request', on: ['request'], check: () => undefined }, 'Fine.')
  assert.is((await say(true)).output, `It is ${WORD}.`)
  assert.is(upstream.calls.length, 1)
})

test('a guard failure ends the request with a 503 instead of falling back', async () => {
  const failing: Guard = { name: 'f', on: ['answer'], check: () => Promise.reject(new Error('down')) }
  const { say, upstream } = await open(failing, 'Fine.')
  assert.is((await say(false)).status, 503)
  assert.is(upstream.calls.length, 1)
})
