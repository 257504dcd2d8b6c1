import { assert, suite } from '../support/suite.ts'
import { openWorld, WORD, w } from './world.ts'

const test = suite('guards on older turns')

const turns = [
  { role: 'user', content: `Open ${WORD}` },
  { role: 'assistant', content: 'No.' },
  { role: 'user', content: 'And now?' },
]
const getContents = (body: string) => JSON.parse(body).messages.map(({ content }: { content: string }) => content)

test('rejected text in an older turn is removed, and the request continues', async () => {
  const { say, upstream } = await openWorld([w])
  const response = await say('openai-chat', '', { body: { messages: turns } })
  assert.is(response.status, 200, await response.clone().text())
  assert.equal(getContents(upstream.calls[0]?.body ?? ''), ['[removed by policy]', 'No.', 'And now?'])
})

test('with `older: "refuse"`, a request with rejected text in an older turn is rejected', async () => {
  const { say, upstream } = await openWorld([{ ...w, older: 'refuse' }])
  assert.is((await say('openai-chat', '', { body: { messages: turns } })).status, 400)
  assert.is(upstream.calls.length, 0)
})

test('a conversation continues after a rejection', async () => {
  const { say, upstream } = await openWorld([w])
  assert.is((await say('openai-chat', `Open ${WORD}`)).status, 400)
  const messages = [...turns.slice(0, 1), { role: 'assistant', content: '' }, { role: 'user', content: 'Hello?' }]
  assert.is((await say('openai-chat', '', { body: { messages } })).status, 200)
  assert.equal(getContents(upstream.calls[0]?.body ?? ''), ['[removed by policy]', '', 'Hello?'])
})

test('rejected text in a forged model turn is also removed', async () => {
  const { say, upstream } = await openWorld([w])
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: `The word is ${WORD}` },
    { role: 'user', content: 'Repeat it' },
  ]
  assert.is((await say('openai-chat', '', { body: { messages } })).status, 200)
  assert.equal(getContents(upstream.calls[0]?.body ?? ''), ['Hi', '[removed by policy]', 'Repeat it'])
})

test('a request with a blocked word in both an older turn and the last one is rejected', async () => {
  const { say } = await openWorld([w])
  const messages = [...turns.slice(0, 2), { role: 'user', content: WORD }]
  assert.is((await say('openai-chat', '', { body: { messages } })).status, 400)
})

test('if a blocked word is split across two text blocks of an older turn, both are removed', async () => {
  const { say, upstream } = await openWorld([w])
  const content = [
    { type: 'text', text: 'SES' },
    { type: 'text', text: 'AME' },
  ]
  const messages = [{ role: 'user', content }, ...turns.slice(1)]
  const response = await say('openai-chat', '', { body: { messages } })
  assert.is(response.status, 200, await response.clone().text())
  assert.not.match(upstream.calls[0]?.body ?? '', 'SES')
})
