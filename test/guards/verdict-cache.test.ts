import { memoryStorage } from '../../adapters/storage/memory.ts'
import { judge } from '../../src/features/guards/guards.ts'
import { createGateway } from '../../src/gateway.ts'
import type { Guard } from '../../src/index.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { WORD } from './world.ts'

const test = suite('cached guard verdicts')

const createJudge = (policy = 'No words.') => judge({ name: 'j', model: 'judge/m', policy, on: ['request'] })
const user = (content: string) => ({ role: 'user', content })
const assistant = (content: string) => ({ role: 'assistant', content })

/** Opens a gateway with a judge that rejects the word. Each judge call's texts are added to `judged`. */
function openJudged(guard: Guard, judged: string[][] = []) {
  const upstream = fakeUpstream(({ provider, body }) => {
    if (provider !== 'judge') return json(chatResponse())
    const texts: Array<{ id: string; text: string }> = JSON.parse(JSON.parse(body).messages[1].content)
    judged.push(texts.map(({ text }) => text))
    const ids = texts.filter(({ text }) => text.includes(WORD)).map(({ id }) => id)
    return json(chatResponse(JSON.stringify(ids.length > 0 ? { verdict: 'refuse', ids } : { verdict: 'allow' })))
  })
  const clock = fakeClock()
  const connect = (name: string) => ({ provider: name, apiKey: 'k', baseUrl: `https://${name}.test/v1` })
  const gateway = createGateway({
    ...{ storage: memoryStorage(), fetch: upstream, logger: false, guards: [guard], clock },
    connections: { one: connect('one'), judge: connect('judge') },
  })
  const sendMessages = async (...messages: object[]) => {
    const response = await gateway.fetch('http://gateway/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'one/m', messages }),
    })
    return response.status
  }
  const getJudgedTexts = () =>
    JSON.parse(upstream.calls.at(-1)?.body ?? '').messages.map(({ content }: { content: string }) => content)
  return { say: sendMessages, sent: getJudgedTexts, judged, clock }
}

test('a judge checks each message of a growing conversation once', async () => {
  const { say, judged } = openJudged(createJudge())
  assert.is(await say(user('a')), 200)
  assert.is(await say(user('a'), assistant('b'), user('c')), 200)
  assert.is(await say(user('a'), assistant('b'), user('c'), assistant('d'), user('e')), 200)
  assert.equal(judged, [['a'], ['b', 'c'], ['d', 'e']])
})

test('a changed older message and a repeated last message are checked again', async () => {
  const { say, judged } = openJudged(createJudge())
  await say(user('a'))
  await say(user('a!'), assistant('b'), user('a'))
  assert.equal(judged, [['a'], ['a!', 'b', 'a']])
})

test('a rejected older message is removed without another judge call', async () => {
  const { say, sent, judged } = openJudged(createJudge())
  assert.is(await say(user(WORD)), 400)
  const turns = [user(WORD), assistant('No.'), user('Hi')]
  assert.is(await say(...turns), 200)
  assert.equal(sent(), ['[removed by policy]', 'No.', 'Hi'])
  assert.equal(
    judged.flat().filter((text) => text === WORD),
    [WORD],
  )
})

test('a cached verdict expires after an hour', async () => {
  const { say, judged, clock } = openJudged(createJudge())
  await say(user('a'))
  await clock.advance(3_600_001)
  await say(user('a'), assistant('b'), user('c'))
  assert.equal(judged, [['a'], ['a', 'b', 'c']])
})

test('a guard with a changed policy checks older messages again', async () => {
  const judged: string[][] = []
  await openJudged(createJudge(), judged).say(user('a'))
  await openJudged(createJudge('No letters.'), judged).say(user('a'), assistant('b'), user('c'))
  assert.equal(judged, [['a'], ['a', 'b', 'c']])
})
