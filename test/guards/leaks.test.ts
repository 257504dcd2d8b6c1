import { words } from '../../src/features/guards/guards.ts'
import { chatChunk, chatEvents, chatResponse } from '../pipeline/support/responses.ts'
import { getOutput } from '../pipeline/support/sdk/model-output.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { assert, suite } from '../support/suite.ts'
import { clientNames, openWorld, WORD, w } from './world.ts'

const test = suite('leaks past guards')

const builtIn = words({ name: 'w', words: [WORD] })
const replacing = words({ name: 'r', words: ['falcon'], action: 'replace' })
const ending = chatEvents().slice(-3)
const REJECTED = /content_filter|"refusal"|SAFETY|content-filter/

for (const [title, text] of Object.entries({
  'struck-through letters': 'SE\u0336S\u0336AME',
  'control characters': 'SES\u0000AME',
  'small capitals': 'ꜱᴇꜱᴀᴍᴇ',
  'inverted (white on black) letters': '🆂🅴🆂🅰🅼🅴',
}))
  test(`a blocked word with ${title} is rejected`, async () => {
    const response = await (await openWorld([builtIn])).say('openai-chat', `Say ${text}.`)
    assert.is(response.status, 400, await response.text())
  })

test('a blocked phrase that contains a line break is rejected', async () => {
  const phrase = words({ name: 'w', words: ['project falcon'] })
  assert.is((await (await openWorld([phrase])).say('openai-chat', 'project\nfalcon')).status, 400)
})

for (const [title, body] of Object.entries({
  'a metadata field name': { metadata: { [WORD]: 'x' } },
  'a metadata field named "type"': { metadata: { type: 'sesame' } },
  'a property name in a schema': {
    tools: [{ type: 'function', function: { name: 'f', parameters: { properties: { [WORD]: { type: 'string' } } } } }],
  },
}))
  test(`a blocked word is rejected in ${title}`, async () => {
    assert.is((await (await openWorld([builtIn])).say('openai-chat', 'Hi', { body })).status, 400)
  })

for (const client of clientNames)
  test(`format keywords aren't searched (${client})`, async () => {
    const list = ['assistant', 'stop', 'delta', 'response', 'message', 'text', 'chat', 'finish', 'completed']
    const guard = words({ name: 'w', words: list, on: ['answer'] })
    const events = [chatChunk({ role: 'assistant', content: 'Hello ' }), ...ending]
    const { say } = await openWorld([guard], { events, response: chatResponse('Hello') })
    for (const stream of [false, true]) {
      const text = await (await say(client, 'Hi', { stream })).text()
      assert.ok(!REJECTED.test(text), text)
    }
  })

for (const [title, event] of Object.entries({
  'is not JSON': `data: ${WORD}\n\n`,
  'is an array': `data: ["${WORD}"]\n\n`,
  'is a ping with text': `data: {"type":"ping","x":"${WORD}"}\n\n`,
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

test('a word outside the text content is replaced in every event', async () => {
  const events = ['One ', 'two '].map((content) => chatChunk({ content, annotations: [{ title: 'falcon' }] }))
  const { say } = await openWorld([replacing], { events: [...events, ...ending] })
  assert.not.match(await (await say('openai-chat', 'Hi', { stream: true })).text(), 'falcon')
})

test("other guards' changes to a choice are kept when another choice is rejected", async () => {
  const response = chatResponse('The falcon.')
  const other = { index: 1, message: { role: 'assistant', content: WORD }, finish_reason: 'stop' }
  const { say } = await openWorld([replacing, builtIn], {
    response: { ...response, choices: [...response.choices, other] },
  })
  const { choices } = JSON.parse(await (await say('openai-chat', 'Hi', { body: { n: 2 } })).text())
  assert.is(choices[0].message.content, 'The [WORD].')
  assert.is(choices[1].finish_reason, 'content_filter')
})

test('a blocked word split across two parts of a response is rejected', async () => {
  const candidate = { content: { role: 'model', parts: [{ text: 'SES' }, { text: 'AME' }] }, finishReason: 'STOP' }
  const { say } = await openWorld([builtIn], { response: { candidates: [candidate] }, format: 'gemini' })
  const text = await (await say('gemini', 'Hi')).text()
  assert.not.match(text, 'AME"')
  assert.match(text, 'SAFETY')
})

for (const stream of [false, true])
  test(`log probabilities don't contain tokens of changed text (${stream ? 'streamed' : 'not streamed'})`, async () => {
    const content = ['The ', 'fal', 'con'].map((token) => ({ token, logprob: -1, bytes: null, top_logprobs: [] }))
    const response = chatResponse('The falcon')
    const choices = response.choices.map((choice) => ({ ...choice, logprobs: { content } }))
    const chunk = JSON.parse(chatChunk({ content: 'The falcon' }).slice('data: '.length))
    chunk.choices[0].logprobs = { content }
    const events = [`data: ${JSON.stringify(chunk)}\n\n`, ...ending]
    const { say } = await openWorld([replacing], { response: { ...response, choices }, events })
    const text = await (await say('openai-chat', 'Hi', { stream })).text()
    assert.match(text, 'The [WORD]')
    assert.not.match(text, '"con"')
  })

for (const format of ['anthropic-messages', 'openai-responses'] as const)
  for (const guard of [builtIn, w])
    test(`a blocked word split across several content blocks of a stream is rejected (${format}, ${guard === w ? 'custom' : 'built-in'} guard)`, async () => {
      const blocks = ['One SES', 'A', 'ME two'].map((text) => ({ type: 'text' as const, text }))
      const { events } = getOutput(format, { blocks })
      const { say } = await openWorld([guard], { events, format })
      const text = await (await say(format, 'Hi', { stream: true })).text()
      assert.not.match(text, 'ME two')
      assert.not.match(text, '"ME')
      assert.ok(REJECTED.test(text), text)
    })

test('a blocked word that is split by thousands of invisible characters in a stream is rejected', async () => {
  const invisible = Array.from({ length: 40 }, () => chatChunk({ content: '\u200b'.repeat(100) }))
  const events = [chatChunk({ content: 'One S' }), ...invisible, chatChunk({ content: 'ESAME ' }), ...ending]
  const { say } = await openWorld([builtIn], { events })
  const text = await (await say('openai-chat', 'Hi', { stream: true })).text()
  assert.not.match(text, 'ESAME')
  assert.match(text, 'content_filter')
})

test('only the last value of a duplicate field in an event is sent', async () => {
  const event = `data: {"choices":[{"index":0,"delta":{"content":"${WORD} ","content":"two"}}]}\n\n`
  const { say } = await openWorld([builtIn], { events: [chatChunk({ content: 'One ' }), event, ...ending] })
  const text = await (await say('openai-chat', 'Hi', { stream: true })).text()
  assert.not.match(text, WORD)
  assert.match(text, 'two')
})

for (const client of clientNames)
  test(`a rejected non-streaming response that is converted to a stream ends in the client's format (${client})`, async () => {
    const fetch = fakeUpstream(() => json(chatResponse(`Say ${WORD}.`)))
    const { say } = await openWorld([builtIn], { options: { fetch } })
    const response = await say(client, 'Hi', { stream: true })
    const text = await response.text()
    assert.is(response.status, 200, text)
    assert.not.match(text, WORD)
    assert.ok(REJECTED.test(text), text)
  })

test('a held tool call in thousands of chunks takes linear time', async () => {
  const piece = (index: number) =>
    chatChunk({
      tool_calls: [
        {
          index: 0,
          ...(index === 0 && { id: 'a', type: 'function' }),
          function: { ...(index === 0 && { name: 'f' }), arguments: ' ' },
        },
      ],
    })
  const measure = async (count: number) => {
    const events = [...Array.from({ length: count }, (_, index) => piece(index)), ...ending]
    const { say } = await openWorld([builtIn], { events })
    const startedAt = process.cpuUsage().user
    await (await say('openai-chat', 'Hi', { stream: true })).text()
    return process.cpuUsage().user - startedAt
  }
  await measure(1_000)
  const [few, many] = [await measure(2_000), await measure(16_000)]
  assert.ok(many < 24 * few, `${few} and ${many} microseconds`)
})
