import type { Guard } from '../../src/index.ts'
import { chatChunk, chatEvents, chatResponse } from '../pipeline/support/responses.ts'
import { assert, suite } from '../support/suite.ts'
import { clientNames, openWorld, WORD, w } from './world.ts'

const test = suite('guards on responses')

/** A rejected response's finish reason, by client format. */
const ends: Record<string, string> = {
  'openai-chat': '"finish_reason":"content_filter"',
  'openai-responses': '"incomplete_details":{"reason":"content_filter"}',
  'anthropic-messages': '"stop_reason":"refusal"',
  gemini: '"finishReason":"SAFETY"',
  'gemini, as an array': '"finishReason":"SAFETY"',
  'ai-sdk': '"finishReason":{"unified":"content-filter"',
}

/** A guard that passes everything. */
const pass: Guard = { name: 'pass', check: () => undefined }

const toStream = (pieces: readonly string[]) => [
  chatChunk({ role: 'assistant', content: '' }),
  ...pieces.map((content) => chatChunk({ content })),
  ...chatEvents().slice(-3),
]

for (const client of clientNames) {
  test(`a rejected response has usage and its format's finish reason, but no text (${client})`, async () => {
    const { say } = await openWorld([w], { response: chatResponse(`The word is ${WORD}.`) })
    const response = await say(client, 'Hi')
    const text = await response.text()
    assert.is(response.status, 200, text)
    assert.not.match(text, WORD)
    assert.not.match(text, 'The word')
    assert.match(text, ends[client] ?? '')
    assert.match(text, /usage/)
    assert.is(response.headers.get('x-signalbox-guards'), 'refused; name=w')
  })

  for (const [title, pieces] of [
    ['in a later chunk', ['One. ', 'Two. ', `Say ${WORD} now. `, 'Three.']],
    ['in two chunks', ['One. ', 'SES', 'AME']],
    ['letter by letter', [...`One. Two. ${WORD}.`]],
  ] as const)
    test(`a stream with a blocked word ${title} ends before the word, in the client's format (${client})`, async () => {
      const { say } = await openWorld([w], { events: toStream(pieces) })
      const response = await say(client, 'Hi', { stream: true })
      const text = await response.text()
      assert.is(response.status, 200, text)
      assert.is(response.headers.get('x-signalbox-guards'), 'held')
      assert.not.match(text.replace(/"(?:delta|content|text)":"([^"]*)"/g, '$1').replaceAll(/[^A-Z]/g, ''), WORD)
      assert.not.match(text, WORD)
      assert.match(text, ends[client] ?? '')
      assert.not.match(text, 'Three')
    })

  test(`a stream that passes stays byte-identical (${client})`, async () => {
    const events = toStream(['One. ', 'Two, ', 'three.'])
    const stable = (text: string) =>
      text
        .replaceAll(/[\w-]*[A-Za-z0-9]{24}/g, 'ID')
        .replaceAll(/_at":\d+/g, '_at":0')
        .replaceAll(/"(?:timestamp|requestId)":"[^"]*"/g, '')
    const guarded = await (await (await openWorld([pass], { events })).say(client, 'Hi', { stream: true })).text()
    const plain = await (await (await openWorld([], { events })).say(client, 'Hi', { stream: true })).text()
    assert.is(stable(guarded), stable(plain))
  })
}

test('if one of several choices is rejected, only that choice ends', async () => {
  const response = chatResponse('Fine.')
  const other = { index: 1, message: { role: 'assistant', content: WORD }, finish_reason: 'stop' }
  const { say } = await openWorld([w], { response: { ...response, choices: [...response.choices, other] } })
  const { choices } = JSON.parse(await (await say('openai-chat', 'Hi', { body: { n: 2 } })).text())
  assert.is(choices[0].message.content, 'Fine.')
  assert.is(choices[1].finish_reason, 'content_filter')
  assert.is(choices[1].message.content, null)
})

test("a tool call with a blocked word isn't delivered", async () => {
  const call = (delta: object) => chatChunk({ tool_calls: [{ index: 0, ...delta }] })
  const events = [
    chatChunk({ role: 'assistant', content: 'Let me see. ' }),
    call({ id: 'a', type: 'function', function: { name: 'f', arguments: '' } }),
    call({ function: { arguments: '{"a":"SES' } }),
    call({ function: { arguments: 'AME"}' } }),
    chatChunk({}, 'tool_calls'),
    ...chatEvents().slice(-2),
  ]
  for (const client of clientNames) {
    const { say } = await openWorld([w], { events })
    const text = await (await say(client, 'Hi', { stream: true })).text()
    assert.not.match(text, /AME/, client)
    assert.not.match(text, /tool_calls"[,}]|tool_use"[,}]/.source, client)
    assert.match(text, ends[client] ?? '')
  }
})
