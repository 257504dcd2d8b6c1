import type { Guard } from '../../src/index.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { assert, suite } from '../support/suite.ts'
import { clientNames, openWorld, WORD, w } from './world.ts'

const test = suite('guards that fail')

const failing: Record<string, Guard['check']> = {
  throws: () => {
    throw new Error(`It found ${WORD}`)
  },
  rejects: () => Promise.reject(new Error(`It found ${WORD}`)),
  'takes too long': () => new Promise(() => {}),
  'returns an empty object': () => ({}) as never,
  'returns true': () => true as never,
  "changes a part that it didn't receive": () => ({ verdict: 'change', changes: [{ id: 'x', text: '' }] }),
  'changes a span outside its part': ({ parts: [part] }) => ({
    verdict: 'change',
    changes: [{ id: part?.id ?? '', start: 0, end: 99, text: '' }],
  }),
}

for (const [title, check] of Object.entries(failing)) {
  test(`a guard that ${title} causes a retryable 503`, async () => {
    const { say, upstream, errors } = await openWorld([{ name: 'g', changes: true, timeoutMs: 50, check }])
    const response = await say('openai-chat', 'Hi')
    const text = await response.text()
    assert.is(response.status, 503, text)
    assert.is(JSON.parse(text).error.code, 'guard_unavailable')
    assert.is(response.headers.get('x-should-retry'), 'true')
    assert.not.match(text, WORD)
    assert.is(upstream.calls.length, 0)
    assert.is(errors.length, 1)
  })

  test(`with \`onError: "pass"\`, a guard that ${title} lets the request pass`, async () => {
    const { say } = await openWorld([{ name: 'g', changes: true, timeoutMs: 50, onError: 'pass', check }])
    const response = await say('openai-chat', 'Hi')
    assert.is(response.status, 200, await response.clone().text())
    assert.is(response.headers.get('x-signalbox-guards'), 'failed-open; name=g')
  })
}

test('a rejection cancels all checks that are still running', async () => {
  let isAborted = false
  const slow: Guard = {
    name: 'slow',
    check: (_, { signal }) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          isAborted = true
          resolve(undefined)
        })
      }),
  }
  const { say } = await openWorld([slow, w])
  const startedAt = performance.now()
  assert.is((await say('openai-chat', WORD)).status, 400)
  assert.ok(performance.now() - startedAt < 1_000)
  assert.ok(isAborted)
})

test("empty text isn't checked", async () => {
  let calls = 0
  const counting: Guard = {
    name: 'c',
    on: ['answer'],
    check: ({ parts }) => {
      calls += parts.filter(({ kind }) => kind === 'text').length
      return undefined
    },
  }
  const { say } = await openWorld([counting], { response: chatResponse('') })
  await say('openai-chat', 'Hi')
  assert.is(calls, 0)
})

test('in watch mode, verdicts are reported but not enforced', async () => {
  const { say } = await openWorld([{ ...w, mode: 'watch' }], { response: chatResponse(WORD) })
  const response = await say('openai-chat', WORD)
  assert.is(response.status, 200)
  assert.is(response.headers.get('x-signalbox-guards'), 'watched-refused; name=w')
  assert.match(await response.text(), WORD)
})

for (const client of clientNames)
  test(`a guard can respond to a request itself, with or without streaming (${client})`, async () => {
    const answering: Guard = {
      name: 'a',
      on: ['request'],
      check: () => ({ verdict: 'answer', text: 'Ask the front desk.' }),
    }
    for (const stream of [false, true]) {
      const { say, upstream } = await openWorld([answering])
      const response = await say(client, 'Hi', { stream })
      const text = await response.text()
      assert.is(response.status, 200, text)
      assert.match(text, 'Ask the front desk.')
      assert.is(upstream.calls.length, 0)
    }
  })

for (const client of clientNames)
  test(`with \`as: "answer"\`, a rejected request gets a response without text (${client})`, async () => {
    for (const stream of [false, true]) {
      const { say, upstream } = await openWorld([{ ...w, as: 'answer' }])
      const response = await say(client, WORD, { stream })
      const text = await response.text()
      assert.is(response.status, 200, text)
      assert.match(text, /content_filter|refusal|SAFETY|content-filter/)
      assert.is(response.headers.get('x-signalbox-guards'), 'refused; name=w')
      assert.is(upstream.calls.length, 0)
    }
  })

test('createGateway rejects invalid guards', async () => {
  const check = () => undefined
  for (const [guards, problem] of [
    [[{ check }], 'guards[0] needs its own "name" of letters'],
    [
      [
        { name: 'a', check },
        { name: 'a', check },
      ],
      'guards[1] needs its own "name" of letters',
    ],
    [[{ name: 'a' }], 'guards[0] needs a function "check".'],
  ] as const) {
    const error = await openWorld(guards as never).then(
      () => undefined,
      (error: Error) => error.message,
    )
    assert.match(error ?? '', problem)
  }
})
