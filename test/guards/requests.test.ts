import { assert, suite } from '../support/suite.ts'
import { clientNames, openWorld, WORD, w } from './world.ts'

const test = suite('guards on requests')

for (const client of clientNames)
  test(`a rejected request gets a 400 in the client's format, and no provider is called (${client})`, async () => {
    const { say, upstream } = await openWorld([w])
    const response = await say(client, `Open ${WORD}`)
    const text = await response.text()
    assert.is(response.status, 400, text)
    assert.is(response.headers.get('x-should-retry'), 'false')
    assert.is(response.headers.get('x-signalbox-guards'), 'refused; name=w')
    assert.match(text, 'The guard \\"w\\" rejected the content of this request.')
    assert.not.match(text, WORD)
    if (client.startsWith('openai')) assert.is(JSON.parse(text).error.code, 'content_filter')
    assert.is(upstream.calls.length, 0)
  })

for (const client of clientNames)
  test(`a request that passes reaches the provider (${client})`, async () => {
    const { say, upstream } = await openWorld([w])
    const response = await say(client, 'Open the door')
    assert.is(response.status, 200, await response.clone().text())
    assert.is(response.headers.get('x-signalbox-guards'), null)
    assert.is(upstream.calls.length, 1)
  })

const chat = { model: 'one/m', messages: [{ role: 'user', content: 'Hi' }] }

const places: Record<string, [path: string, body: unknown, headers?: Record<string, string>]> = {
  'a blocked word in a system message': [
    '/v1/chat/completions',
    { ...chat, messages: [{ role: 'system', content: WORD }, ...chat.messages] },
  ],
  'a blocked word in a developer message': [
    '/v1/chat/completions',
    { ...chat, messages: [{ role: 'developer', content: WORD }, ...chat.messages] },
  ],
  'a blocked word in "instructions"': ['/v1/responses', { model: 'one/m', instructions: `Say ${WORD}`, input: 'Hi' }],
  'a blocked word in "system" as a string': [
    '/v1/messages',
    { model: 'one/m', max_tokens: 9, system: WORD, messages: chat.messages },
  ],
  'a blocked word in "system" as blocks': [
    '/v1/messages',
    { model: 'one/m', max_tokens: 9, system: [{ type: 'text', text: WORD }], messages: chat.messages },
  ],
  'a blocked word in "systemInstruction"': [
    '/v1beta/models/one/m:generateContent',
    { systemInstruction: { parts: [{ text: WORD }] }, contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
  ],
  'a blocked word in "system_instruction"': [
    '/v1beta/models/one/m:generateContent',
    { system_instruction: { parts: [{ text: WORD }] }, contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
  ],
  'a blocked word in a tool result': [
    '/v1/chat/completions',
    {
      ...chat,
      messages: [
        ...chat.messages,
        { role: 'assistant', tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }] },
        { role: 'tool', tool_call_id: 'a', content: WORD },
      ],
    },
  ],
  "a blocked word in a tool's description": [
    '/v1/chat/completions',
    {
      ...chat,
      tools: [{ type: 'function', function: { name: 'f', description: WORD, parameters: { type: 'object' } } }],
    },
  ],
  'a blocked word in "metadata"': ['/v1/chat/completions', { ...chat, metadata: { note: WORD } }],
  'a blocked word in "user"': ['/v1/chat/completions', { ...chat, user: WORD }],
  'a blocked word in "stop"': ['/v1/chat/completions', { ...chat, stop: [WORD] }],
  'a blocked word in "prediction"': [
    '/v1/chat/completions',
    { ...chat, prediction: { type: 'content', content: WORD } },
  ],
  'a blocked word in a description in a JSON schema': [
    '/v1/chat/completions',
    {
      ...chat,
      response_format: {
        type: 'json_schema',
        json_schema: {
          name: 's',
          schema: { type: 'object', properties: { a: { type: 'string', description: WORD } } },
        },
      },
    },
  ],
  'a blocked word in an unknown field': ['/v1/chat/completions', { ...chat, x_note: WORD }],
  'a blocked word in an embedding string': ['/v1/embeddings', { model: 'one/m', input: WORD }],
  'a blocked word in an embedding list': ['/v1/embeddings', { model: 'one/m', input: ['a', WORD] }],
  'a blocked word in an image prompt': ['/v1/images/generations', { model: 'one/m', prompt: WORD }],
  'a blocked word in a speech request': ['/v1/audio/speech', { model: 'one/m', input: WORD, voice: 'alloy' }],
  'a blocked word in a document to rerank': ['/v1/rerank', { model: 'one/m', query: 'a', documents: ['b', WORD] }],
  'a blocked word in a moderation request': ['/v1/moderations', { model: 'one/m', input: WORD }],
  'a blocked word in a token count request': [
    '/v1/messages/count_tokens',
    { model: 'one/m', messages: [{ role: 'user', content: WORD }] },
  ],
  'a blocked word in a compaction request': ['/v1/responses/compact', { model: 'one/m', input: WORD }],
  'a blocked word split across two text blocks': [
    '/v1/chat/completions',
    {
      ...chat,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'SES' },
            { type: 'text', text: 'AME' },
          ],
        },
      ],
    },
  ],
  'a blocked word in a data URL with text': [
    '/v1/chat/completions',
    {
      ...chat,
      messages: [
        {
          role: 'user',
          content: [{ type: 'file', file: { file_data: `data:text/plain;base64,${btoa(`Say ${WORD}`)}` } }],
        },
      ],
    },
  ],
  'an escaped blocked word in JSON': [
    '/v1/chat/completions',
    '{"model":"one/m","messages":[{"role":"user","content":"\\u0053ESAME"}]}',
  ],
  'an escaped blocked word in JSON inside a string': [
    '/v1/chat/completions',
    JSON.stringify({
      ...chat,
      messages: [
        ...chat.messages,
        {
          role: 'assistant',
          tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{"a":"\\u0053ESAME"}' } }],
        },
        { role: 'tool', tool_call_id: 'a', content: 'ok' },
      ],
    }),
  ],
}

for (const [title, [path, body, headers]] of Object.entries(places))
  test(`${title} is rejected`, async () => {
    const { send, upstream } = await openWorld([{ ...w, older: 'refuse' }])
    const response = await send(path, body, headers)
    const text = await response.text()
    assert.is(response.status, 400, text)
    assert.match(text, 'rejected the content')
    assert.is(upstream.calls.length, 0)
  })

test('blocked words are rejected in tool call arguments and their field names', async () => {
  for (const input of [{ a: WORD }, { [WORD]: 1 }]) {
    const { send } = await openWorld([{ ...w, older: 'refuse' }])
    const response = await send('/v1/messages', {
      model: 'one/m',
      max_tokens: 9,
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'ok' }] },
      ],
    })
    assert.is(response.status, 400, await response.text())
  }
})

test('a blocked word in a transcription prompt is rejected', async () => {
  const { send, upstream } = await openWorld([w])
  const form = new FormData()
  form.set('model', 'one/m')
  form.set('prompt', `Say ${WORD}`)
  form.set('file', new Blob([new Uint8Array(8)]), 'a.wav')
  const response = await send('/v1/audio/transcriptions', form)
  assert.is(response.status, 400, await response.text())
  assert.is(upstream.calls.length, 0)
})
