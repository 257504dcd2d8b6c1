import { pii, words } from '../../src/features/guards/guards.ts'
import type { Guard } from '../../src/index.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { assert, suite } from '../support/suite.ts'
import { clientNames, openWorld, WORD, w } from './world.ts'

const test = suite('guards on provider errors')

/** Creates a provider that fails with a message. */
const fail = (message: string | ((body: string) => string), status: number) =>
  fakeUpstream(({ body }) =>
    json(
      { error: { message: typeof message === 'string' ? message : message(body), type: 'x', code: 'y' } },
      status,
      status === 429 ? { 'retry-after': '7' } : {},
    ),
  )

for (const client of clientNames)
  for (const stream of [false, true])
    test(`a blocked word in a provider error isn't delivered (${client}${stream ? ', stream' : ''})`, async () => {
      for (const guard of [w, words({ name: 'w', words: [WORD] })])
        for (const status of [400, 429, 500]) {
          const { say } = await openWorld([guard], { options: { fetch: fail(`No ${WORD} here`, status) } })
          const response = await say(client, 'Hi', { stream })
          const text = await response.text()
          assert.is(response.status, status, text)
          assert.not.match(text, WORD)
          assert.match(text, `The provider returned an error with the status ${status}. A guard removed its message.`)
          assert.match(response.headers.get('x-signalbox-attempts') ?? '', `${status}`)
        }
    })

test('a provider error that passes the guards stays byte-identical', async () => {
  const plain = await openWorld([], { options: { fetch: fail('No such thing', 400) } })
  const guarded = await openWorld([words({ name: 'w', words: [WORD] })], {
    options: { fetch: fail('No such thing', 400) },
  })
  assert.is(await (await guarded.say('openai-chat', 'Hi')).text(), await (await plain.say('openai-chat', 'Hi')).text())
})

test('a masked value in a provider error is restored', async () => {
  const mask = pii({ name: 'm', types: ['email'], action: 'mask' })
  const echo = (body: string) => `Invalid: ${JSON.parse(body).messages[0].content}`
  const { say } = await openWorld([mask], { options: { fetch: fail(echo, 400) } })
  assert.match(await (await say('openai-chat', 'To ann@a.test')).text(), 'Invalid: To ann@a.test')
})

test("if a guard fails on a provider error, the client doesn't get the error's message", async () => {
  const failing: Guard = { name: 'f', on: ['answer'], check: () => Promise.reject(new Error('down')) }
  const { say } = await openWorld([failing], { options: { fetch: fail(`No ${WORD} here`, 400) } })
  const response = await say('openai-chat', 'Hi')
  assert.is(response.status, 400)
  assert.not.match(await response.text(), WORD)
})
