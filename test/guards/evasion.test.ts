import { pii, words } from '../../src/features/guards/guards.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { assert, suite } from '../support/suite.ts'
import { openWorld, WORD } from './world.ts'

const test = suite('evading guards')

const builtIn = words({ name: 'w', words: [WORD] })
const toChat = (content: unknown) => ({ model: 'one/m', messages: [{ role: 'user', content }] })
const toMessage = (content: unknown) => ({ ...toChat(content), max_tokens: 9 })
const toFile = (data: string) => toChat([{ type: 'file', file: { file_data: data } }])
const inLines = btoa(`${'a line '.repeat(20)}${WORD} `).replace(/(.{40})/g, '$1\n')

const toUrlSafe = (text: string) => btoa(text).replaceAll('+', '-').replaceAll('/', '_')
const toUtf16 = (text: string) => btoa(Array.from(text, (letter) => `${letter}\0`).join(''))
const tspans = '<svg><text><tspan x="0">SES</tspan><tspan class="a" x="9">AME</tspan></text></svg>'

const toPart = (text: string) => ({ type: 'text', text })
const toResult = (text: string) => ({ type: 'tool_result', tool_use_id: 't', content: [toPart(text)] })
const longText = btoa('A line. '.repeat(200) + WORD)

const hidden: Record<string, [path: string, body: unknown]> = {
  'a text file labeled as an image': ['/v1/chat/completions', toFile(`data:image/png;base64,${longText}`)],
  'a text file labeled as an image, with line breaks': [
    '/v1/chat/completions',
    toFile(`data:image/png;base64,${longText.replace(/(.{5})/g, '$1\n')}`),
  ],
  'an unencoded text file labeled as an image': ['/v1/chat/completions', toFile(`data:image/png,Say ${WORD}`)],
  'text labeled as a video': [
    '/v1beta/models/one/m:generateContent',
    { contents: [{ role: 'user', parts: [{ inlineData: { mimeType: 'video/mp4', data: longText } }] }] },
  ],
  'a UTF-16 text file with a binary media type': [
    '/v1/chat/completions',
    toFile(`data:application/octet-stream;base64,${toUtf16(WORD)}`),
  ],
  'a Latin-1 text file with a control character': [
    '/v1/chat/completions',
    toFile(btoa(`\xe9 \x01 ${'A line. '.repeat(20)}${WORD} \xfc`)),
  ],
  'a tool result and a text block': ['/v1/messages', toMessage([toResult('SES'), toPart('AME')])],
  'two tool results': ['/v1/messages', toMessage([toResult('SES'), toResult('AME')])],
  'a document in a tool result': [
    '/v1/messages',
    toMessage([
      {
        ...toResult(''),
        content: [{ type: 'document', source: { type: 'content', content: [toPart('SES')] } }, toPart('AME')],
      },
    ]),
  ],
  'nested lists of text parts': ['/v1/chat/completions', toChat([[toPart('SES')], [toPart('AME')]])],
  'text parts between other parts': ['/v1/chat/completions', toChat(['x', 'SES', 'AME', 'y'].map(toPart))],
  'two consecutive messages': [
    '/v1/chat/completions',
    { model: 'one/m', messages: ['x', 'SES', 'AME', 'y'].map((content) => ({ role: 'user', content })) },
  ],
  'two system messages': [
    '/v1/chat/completions',
    {
      model: 'one/m',
      messages: [
        { role: 'system', content: 'SES' },
        { role: 'developer', content: [toPart('AME')] },
        { role: 'user', content: 'Hi' },
      ],
    },
  ],
  'text that begins like a data URL': ['/v1/chat/completions', toChat(`data: ${WORD}`)],
  'text that is an image data URL': ['/v1/chat/completions', toChat(`data:image/png;base64,${WORD}`)],
  'a document with a data URL as its text': [
    '/v1/messages',
    toMessage([{ type: 'document', title: 'data:,a', source: { type: 'text', data: `data:,${WORD}` } }]),
  ],
  'a data URL with an uppercase scheme': [
    '/v1/chat/completions',
    toFile(`DATA:text/plain;base64,${btoa(`Say ${WORD}`)}`),
  ],
  'a text file without a media type': ['/v1/chat/completions', toFile(btoa(`Say ${WORD}`))],
  'a text file with a binary media type': [
    '/v1/chat/completions',
    toFile(`data:application/octet-stream;base64,${btoa(`Say ${WORD}`)}`),
  ],
  'a base64 text file with line breaks': [
    '/v1/messages',
    toMessage([{ type: 'document', source: { type: 'base64', media_type: 'text/plain', data: inLines } }]),
  ],
  'a URL-safe base64 text file': ['/v1/chat/completions', toFile(toUrlSafe(`??>>~~ ${WORD} ÿÿ??`))],
  'a base64 text file with invalid characters': [
    '/v1/chat/completions',
    toFile(`data:text/plain;base64,${btoa(`Say ${WORD}`).replace(/^(.{5})/, '$1!*')}`),
  ],
  'a base64 document with invalid characters': [
    '/v1/messages',
    toMessage([
      {
        type: 'document',
        source: { type: 'base64', media_type: 'text/plain', data: btoa(`Say ${WORD}`).replace(/^(.{5})/, '$1!*') },
      },
    ]),
  ],
  'a Latin-1 text file without a media type': ['/v1/chat/completions', toFile(btoa(`\xe9 ${WORD} \xfc`))],
  'a UTF-16 text file': ['/v1/chat/completions', toFile(`data:text/plain;base64,${toUtf16(WORD)}`)],
  'a data URL with an invalid escape': ['/v1/chat/completions', toFile(`data:text/plain,100% ${WORD}`)],
  'an SVG image with styled text': ['/v1/chat/completions', toFile(`data:image/svg+xml;base64,${btoa(tspans)}`)],
  'two parts of a token count request': [
    '/v1beta/models/one/m:countTokens',
    { generateContentRequest: { contents: [{ role: 'user', parts: [{ text: 'SES' }, { text: 'AME' }] }] } },
  ],
  'a description in a response schema': [
    '/v1/chat/completions',
    {
      ...toChat('Hi'),
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'a', schema: { type: 'object', description: WORD } },
      },
    },
  ],
  'a property name in a response schema': [
    '/v1beta/models/one/m:generateContent',
    {
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      generationConfig: { responseSchema: { type: 'OBJECT', properties: { [WORD]: { type: 'STRING' } } } },
    },
  ],
  'a file name': [
    '/v1/responses',
    {
      model: 'one/m',
      input: [{ role: 'user', content: [{ type: 'input_file', filename: `${WORD}.pdf`, file_data: 'AAAA' }] }],
    },
  ],
  'system block text': [
    '/v1/messages',
    {
      ...toMessage('Hi'),
      system: [
        { type: 'text', text: 'SES' },
        { type: 'text', text: 'AME' },
      ],
    },
  ],
  'predicted response text': [
    '/v1/chat/completions',
    {
      ...toChat('Hi'),
      prediction: {
        type: 'content',
        content: [
          { type: 'text', text: 'SES' },
          { type: 'text', text: 'AME' },
        ],
      },
    },
  ],
  'a search result': [
    '/v1/messages',
    toMessage([
      { type: 'search_result', source: 'https://a.test', title: WORD, content: [{ type: 'text', text: 'a' }] },
    ]),
  ],
  "a tool's grammar": [
    '/v1/responses',
    {
      ...{ model: 'one/m', input: 'Hi' },
      tools: [{ type: 'custom', name: 'f', format: { type: 'grammar', syntax: 'lark', definition: WORD } }],
    },
  ],
  'an embedding input': ['/v1/embeddings', { model: 'one/m', input: ['a', WORD] }],
  'a negative image prompt': ['/v1/images/generations', { model: 'one/m', prompt: 'a', negative_prompt: WORD }],
  'a field named after an Object.prototype property': [
    '/v1/chat/completions',
    `{"model":"one/m","messages":[{"role":"user","content":"Hi"}],"__proto__":{"x":"${WORD}"}}`,
  ],
  'an unknown lowercase type': ['/v1/chat/completions', toChat([{ type: 'sesame', text: 'Hi' }])],
  'an unknown lowercase role': [
    '/v1/chat/completions',
    { model: 'one/m', messages: [{ role: 'sesame', content: 'Hi' }] },
  ],
  'an unknown "object"': ['/v1/chat/completions', { ...toChat('Hi'), object: 'sesame' }],
  'an unknown field name': ['/v1/chat/completions', { ...toChat('Hi'), sesame: 1 }],
  'a field name in a message': [
    '/v1/chat/completions',
    { model: 'one/m', messages: [{ role: 'user', content: 'Hi', sesame: null }] },
  ],
  'a tool name': [
    '/v1/chat/completions',
    { ...toChat('Hi'), tools: [{ type: 'function', function: { name: 'sesame', parameters: { type: 'object' } } }] },
  ],
  'a tool parameter name': [
    '/v1/messages',
    {
      ...toMessage('Hi'),
      tools: [{ name: 'f', input_schema: { type: 'object', properties: { sesame: { type: 'string' } } } }],
    },
  ],
  'an author name': [
    '/v1/chat/completions',
    { model: 'one/m', messages: [{ role: 'user', name: 'sesame', content: 'Hi' }] },
  ],
  'two text blocks with an image between them': [
    '/v1/messages',
    toMessage([
      { type: 'text', text: 'SES' },
      { type: 'image', source: { type: 'url', url: 'https://a.test/b.png' } },
      { type: 'text', text: 'AME' },
    ]),
  ],
  'two text blocks with an unknown field between them': [
    '/v1/chat/completions',
    toChat([
      { type: 'text', text: 'SES', x_note: 'zzz' },
      { type: 'text', text: 'AME' },
    ]),
  ],
  'a text block and a tool result': [
    '/v1/messages',
    {
      ...toMessage('Hi'),
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: {} }] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 't', content: 'SES' },
            { type: 'text', text: 'AME' },
          ],
        },
      ],
    },
  ],
  'a nested array': ['/v1/chat/completions', { ...toChat('Hi'), x: [[['sesame']]] }],
  'JSON with a byte order mark and unusual whitespace': [
    '/v1/chat/completions',
    `\ufeff{\r\n\t"model" :"one/m" ,"messages"\n: [ {"role":\t"user","content"\r:"S\\u0045SAME"} ] }`,
  ],
  'a field with a numeric name': [
    '/v1/chat/completions',
    `{"b":"","2":"${WORD}","1":"","model":"one/m","messages":[]}`,
  ],
  'a field with an escaped name': [
    '/v1/chat/completions',
    '{"model":"one/m","messages":[{"role":"user","content":"Hi"}],"s\\u0065same":1}',
  ],
  'a duplicate field with different types': [
    '/v1/chat/completions',
    `{"model":"one/m","messages":[{"role":"user","content":[{"type":"text","text":"${WORD}"}],"content":"Hi"}]}`,
  ],
}

for (const [title, [path, body]] of Object.entries(hidden))
  test(`a blocked word is rejected in ${title}`, async () => {
    const { send, upstream } = await openWorld([builtIn])
    const response = await send(path, body)
    assert.is(response.status, 400, await response.text())
    assert.is(upstream.calls.length, 0)
  })

test('a blocked word split across messages with different roles passes', async () => {
  const { send } = await openWorld([builtIn])
  const messages = ['user', 'assistant', 'user'].map((role, at) => ({ role, content: ['a', 'SES', 'AME'][at] }))
  assert.is((await send('/v1/chat/completions', { model: 'one/m', messages })).status, 200)
})

for (const [client, split] of [
  ['anthropic-messages', { type: 'message', role: 'assistant', content: ['x', 'SES', 'AME'].map(toPart) }],
  [
    'openai-responses',
    { output: ['x', 'SES', 'AME'].map((text) => ({ type: 'message', content: [{ type: 'output_text', text }] })) },
  ],
] as const)
  test(`a blocked word split across a response's blocks is rejected (${client})`, async () => {
    const answer = { id: 'a', object: 'response', model: 'm', status: 'completed', stop_reason: 'end_turn', ...split }
    const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
    const fetch = fakeUpstream(() => json({ ...answer, usage }))
    const { say } = await openWorld([builtIn], { options: { fetch }, format: client })
    const text = await (await say(client, 'Hi')).text()
    assert.match(text, client === 'openai-responses' ? 'content_filter' : '"refusal"')
    assert.not.match(text, '"AME"')
  })

test('text labeled as an image is rejected as media', async () => {
  const { send } = await openWorld([words({ name: 'w', words: [WORD], media: 'refuse' })])
  assert.is((await send('/v1/chat/completions', toFile(`data:image/png;base64,${btoa('Hello')}`))).status, 400)
})

test("the format's own keywords and field names aren't checked", async () => {
  const { send } = await openWorld([words({ name: 'w', words: ['user', 'content', 'function', 'search', 'object'] })])
  const response = await send('/v1/chat/completions', {
    ...toChat([{ type: 'text', text: 'Hi' }]),
    tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }],
  })
  assert.is(response.status, 200, await response.text())
})

test('the error identifies a duplicate field, even next to fields with numeric names', async () => {
  const { send } = await openWorld([builtIn])
  const response = await send('/v1/chat/completions', '{"b":{"2":"","x":1,"1":"","x":2},"model":"one/m","messages":[]}')
  assert.is(response.status, 400)
  assert.match(await response.text(), 'x\\" appears more than once')
})

test("an image in a media field isn't searched as text", async () => {
  const { send } = await openWorld([builtIn])
  const url = `data:image/png;base64,AAAA/${WORD}/AAAA`
  const response = await send('/v1/chat/completions', toChat([{ type: 'image_url', image_url: { url } }]))
  assert.is(response.status, 200, await response.text())
})

test('requests with many matches are checked in less than two seconds', async () => {
  const parts = Array.from({ length: 40_000 }, () => ({ type: 'text', text: WORD }))
  const emails = Array.from({ length: 40_000 }, (_, index) => `a${index}@b.com`).join(' ')
  const masks = pii({ name: 'm', action: 'mask' })
  const before = process.cpuUsage()
  const rejected = await (await openWorld([builtIn])).send('/v1/chat/completions', toChat(parts))
  assert.is(rejected.status, 400)
  const { send, upstream } = await openWorld([masks])
  assert.is((await send('/v1/chat/completions', toChat(emails))).status, 200)
  const { user } = process.cpuUsage(before)
  assert.ok(user < 2_000_000, `${user} µs`)
  assert.match(upstream.calls[0]?.body ?? '', 'EMAIL-40000-')
})

for (const isStream of [false, true])
  test(`an audio response stays byte-identical${isStream ? ' in a stream' : ''}`, async () => {
    const bytes = new Uint8Array(5_000).map((_, index) => (index * 37) % 256)
    const body = () => (isStream ? new Blob([bytes]).stream() : bytes)
    const fetch = fakeUpstream(() => new Response(body(), { headers: { 'content-type': 'audio/mpeg' } }))
    const { send } = await openWorld([builtIn], { options: { fetch } })
    const response = await send('/v1/audio/speech', { model: 'one/m', input: 'Hi', voice: 'alloy' })
    assert.equal(new Uint8Array(await response.arrayBuffer()), bytes)
    assert.is(response.headers.get('x-signalbox-guards'), null)
  })

test('an unpaired surrogate in a response passes', async () => {
  const { say } = await openWorld([builtIn], { response: chatResponse('Hello \ud83d') })
  const response = await say('openai-chat', 'Hi')
  assert.is(response.status, 200)
  assert.match(await response.text(), 'Hello')
})
