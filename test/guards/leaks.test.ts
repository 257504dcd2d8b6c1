import { words } from '../../src/features/guards/guards.ts'
import { chatAnswer, chatChunk, chatEvents } from '../pipeline/support/answers.ts'
import { assert, suite } from '../support/suite.ts'
import { clientNames, openWorld, WORD } from './world.ts'

const test = suite('guards against leaks')

const builtIn = words({ name: 'w', words: [WORD] })
const replacing = words({ name: 'r', words: ['falcon'], action: 'replace' })
const ending = chatEvents().slice(-3)
const REFUSED = /content_filter|"refusal"|SAFETY|content-filter/

for (const [title, text] of Object.entries({
  'struck letters': 'SE\u0336S\u0336AME',
  'control characters': 'SES\u0000AME',
  'small capitals': 'ꜱᴇꜱᴀᴍᴇ',
  'white letters on black': '🆂🅴🆂🅰🅼🅴',
}))
  test(`a word with ${title} is refused`, async () => {
    const response = await (await openWorld([builtIn])).say('openai-chat', `Say ${text}.`)
    assert.is(response.status, 400, await response.text())
  })

test('a phrase is refused across a line break', async () => {
  const phrase = words({ name: 'w', words: ['project falcon'] })
  assert.is((await (await openWorld([phrase])).say('openai-chat', 'project\nfalcon')).status, 400)
})

for (const [title, body] of Object.entries({
  'the name of a metadata field': { metadata: { [WORD]: 'x' } },
  'a metadata field that is called "type"': { metadata: { type: 'sesame' } },
  'the name of a property in a schema': {
    tools: [{ type: 'function', function: { name: 'f', parameters: { properties: { [WORD]: { type: 'string' } } } } }],
  },
}))
  test(`a word is refused in ${title}`, async () => {
    assert.is((await (await openWorld([builtIn])).say('openai-chat', 'Hi', { body })).status, 400)
  })

for (const client of clientNames)
  test(`the keywords of a format are not searched (${client})`, async () => {
    const list = ['assistant', 'stop', 'delta', 'response', 'message', 'text', 'chat', 'finish', 'completed']
    const guard = words({ name: 'w', words: list, on: ['answer'] })
    const events = [chatChunk({ role: 'assistant', content: 'Hello ' }), ...ending]
    const { say } = await openWorld([guard], { events, answer: chatAnswer('Hello') })
    for (const stream of [false, true]) {
      const text = await (await say(client, 'Hi', { stream })).text()
      assert.ok(!REFUSED.test(text), text)
    }
  })

for (const [title, event] of Object.entries({
  'is not JSON': `data: ${WORD}\n\n`,
  'is an array': `data: ["${WORD}"]\n\n`,
  'is a ping with a text': `data: {"type":"ping","x":"${WORD}"}\n\n`,
  'has an ID': `id: ${WORD}\ndata: {"choices":[]}\n\n`,
  'has a name': `event: ${WORD}\ndata: {"choices":[]}\n\n`,
  'has a comment': `: ${WORD}\ndata: {"choices":[]}\n\n`,
  'is a comment': `: ${WORD}\n\n`,
  'has no field': `${WORD}\n\n`,
}))
  test(`an event that ${title} is checked`, async () => {
    const { say } = await openWorld([builtIn], { events: [chatChunk({ content: 'One ' }), event, ...ending] })
    assert.not.match(await (await say('openai-chat', 'Hi', { stream: true })).text(), WORD)
  })

test('a string that repeats outside the content is replaced each time', async () => {
  const events = ['One ', 'two '].map((content) => chatChunk({ content, annotations: [{ title: 'falcon' }] }))
  const { say } = await openWorld([replacing], { events: [...events, ...ending] })
  assert.not.match(await (await say('openai-chat', 'Hi', { stream: true })).text(), 'falcon')
})

test('a choice next to a refused one keeps the changes of other guards', async () => {
  const answer = chatAnswer('The falcon.')
  const other = { index: 1, message: { role: 'assistant', content: WORD }, finish_reason: 'stop' }
  const { say } = await openWorld([replacing, builtIn], { answer: { ...answer, choices: [...answer.choices, other] } })
  const { choices } = JSON.parse(await (await say('openai-chat', 'Hi', { body: { n: 2 } })).text())
  assert.is(choices[0].message.content, 'The [WORD].')
  assert.is(choices[1].finish_reason, 'content_filter')
})

test('a word that two parts of a response spell together is refused', async () => {
  const candidate = { content: { role: 'model', parts: [{ text: 'SES' }, { text: 'AME' }] }, finishReason: 'STOP' }
  const { say } = await openWorld([builtIn], { answer: { candidates: [candidate] }, format: 'gemini' })
  const text = await (await say('gemini', 'Hi')).text()
  assert.not.match(text, 'AME"')
  assert.match(text, 'SAFETY')
})

for (const stream of [false, true])
  test(`the tokens of a changed text are not sent as log probabilities (${stream ? 'streamed' : 'whole'})`, async () => {
    const content = ['The ', 'fal', 'con'].map((token) => ({ token, logprob: -1, bytes: null, top_logprobs: [] }))
    const answer = chatAnswer('The falcon')
    const choices = answer.choices.map((choice) => ({ ...choice, logprobs: { content } }))
    const chunk = JSON.parse(chatChunk({ content: 'The falcon' }).slice('data: '.length))
    chunk.choices[0].logprobs = { content }
    const events = [`data: ${JSON.stringify(chunk)}\n\n`, ...ending]
    const { say } = await openWorld([replacing], { answer: { ...answer, choices }, events })
    const text = await (await say('openai-chat', 'Hi', { stream })).text()
    assert.match(text, 'The [WORD]')
    assert.not.match(text, '"con"')
  })
