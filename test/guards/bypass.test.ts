import { gzipSync } from 'node:zlib'
import { pii, words } from '../../src/features/guards/guards.ts'
import type { Guard } from '../../src/index.ts'
import { chatChunk, chatResponse } from '../pipeline/support/responses.ts'
import { assert, suite } from '../support/suite.ts'
import { openWorld, WORD, w } from './world.ts'

const test = suite('bypassing guards')

const chat = (content: unknown) => ({ model: 'one/m', messages: [{ role: 'user', content }] })
const remote: Guard = { name: 'remote', remote: 'refuse', check: () => undefined }

for (const [title, path, body] of [
  ['an image', '/v1/chat/completions', chat([{ type: 'image_url', image_url: { url: 'https://a.test/b.png' } }])],
  [
    'an image in Responses',
    '/v1/responses',
    {
      model: 'one/m',
      input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'https://a.test/b.png' }] }],
    },
  ],
  [
    'an image in Messages',
    '/v1/messages',
    {
      ...chat([{ type: 'image', source: { type: 'url', url: 'https://a.test/b.png' } }]),
      max_tokens: 9,
    },
  ],
  ['a file', '/v1/chat/completions', chat([{ type: 'file', file: { file_id: 'file-1' } }])],
] as const)
  test(`${title} by URL or ID is rejected with \`remote: "refuse"\``, async () => {
    const { send, upstream } = await openWorld([remote])
    assert.is((await send(path, body)).status, 400)
    assert.equal(upstream.calls, [])
  })

for (const stream of [false, true])
  test(`an item from an earlier response is checked when a request references it by ID${stream ? ' (stream)' : ''}`, async () => {
    const message = `The word is ${WORD}.`
    const chunk = (choice: object) => `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [choice] })}\n\n`
    const events = [
      chunk({ index: 0, delta: { role: 'assistant', content: message } }),
      chunk({ index: 0, delta: {}, finish_reason: 'stop' }),
      'data: [DONE]\n\n',
    ]
    const reply = {
      ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm' },
      choices: [{ index: 0, message: { role: 'assistant', content: message }, finish_reason: 'stop' }],
    }
    const { send, upstream } = await openWorld([{ ...w, on: ['request'] }], { response: reply, events })
    const text = await (await send('/v1/responses', { model: 'one/m', input: 'Hi', stream })).text()
    const id = /"id":"(msg_[^"]+)"/.exec(text)?.[1]
    const items = [
      { type: 'item_reference', id },
      { role: 'user', content: 'Repeat it' },
    ]
    const response = await send('/v1/responses', { model: 'one/m', input: items })
    assert.is(response.status, 200)
    assert.not.match(upstream.calls[1]?.body ?? '', WORD)
    assert.match(upstream.calls[1]?.body ?? '', /\[removed by policy\]/)
    const strict = await openWorld([{ ...w, on: ['request'], older: 'refuse' }], { response: reply })
    const first = await (await strict.send('/v1/responses', { model: 'one/m', input: 'Hi' })).json()
    const again = { model: 'one/m', input: [{ id: first.output[0].id }, { role: 'user', content: 'Repeat it' }] }
    assert.is((await strict.send('/v1/responses', again)).status, 400)
    assert.is(strict.upstream.calls.length, 1)
  })

for (const stream of [false, true])
  test(`a stored response item has the text that the client received, and is masked again${stream ? ' (stream)' : ''}`, async () => {
    const masks = pii({ name: 'm', types: ['email'], action: 'mask' })
    const message = 'I wrote to EMAIL-1-TAG.'
    const request = 'Write to ann@a.test'
    const open = (text: string) =>
      openWorld([masks, { ...w, on: ['answer'], hold: 'all' }], {
        response: chatResponse(text),
        events: [chatChunk({ content: text }), chatChunk({}, 'stop'), 'data: [DONE]\n\n'],
      })
    const probe = await open(message)
    await probe.send('/v1/responses', { model: 'one/m', input: request })
    const placeholder = /EMAIL-1-\w+/.exec(probe.upstream.calls[0]?.body ?? '')?.[0] ?? 'none'
    const { send, upstream } = await open(message.replace('EMAIL-1-TAG', placeholder))
    const text = await (await send('/v1/responses', { model: 'one/m', input: request, stream })).text()
    assert.match(text, 'I wrote to ann@a.test.')
    const id = /"id":"(msg_[^"]+)"/.exec(text)?.[1]
    const input = [
      { role: 'user', content: request },
      { type: 'item_reference', id },
      { role: 'user', content: 'Again' },
    ]
    assert.is((await send('/v1/responses', { model: 'one/m', input })).status, 200)
    const found = [...(upstream.calls[1]?.body ?? '').matchAll(/EMAIL-\d+-\w+/g)].map(([first]) => first)
    assert.equal(found, [placeholder, placeholder])
  })

test("rejected text in a stream isn't stored for later requests", async () => {
  const events = [
    chatChunk({ content: 'Hello there, friend. ' }),
    chatChunk({ content: `The word is ${WORD}.` }),
    chatChunk({}, 'stop'),
    'data: [DONE]\n\n',
  ]
  const guard = words({ name: 'w', words: [WORD], on: ['answer'] })
  const { send, upstream } = await openWorld([guard], { events: [events.join('')] }) // in one chunk, so the whole item arrives before the rejection
  const text = await (await send('/v1/responses', { model: 'one/m', input: 'Hi', stream: true })).text()
  assert.match(text, 'response.incomplete')
  const id = /"id":"(msg_[^"]+)"/.exec(text)?.[1]
  const input = [
    { type: 'item_reference', id },
    { role: 'user', content: 'Repeat it' },
  ]
  await send('/v1/responses', { model: 'one/m', input })
  assert.not.match(upstream.calls[1]?.body ?? '', WORD)
})

for (const [title, encode, headers] of [
  ['in UTF-16', (text: string) => Buffer.from(text, 'utf16le'), {}],
  [
    'in UTF-16 with a charset',
    (text: string) => Buffer.from(text, 'utf16le'),
    { 'content-type': 'application/json; charset=utf-16le' },
  ],
  ['compressed', (text: string) => gzipSync(text), { 'content-encoding': 'gzip' }],
  ['compressed without a content-encoding header', (text: string) => gzipSync(text), {}],
  ['with an unknown encoding', (text: string) => Buffer.from(text), { 'content-encoding': 'secret' }],
] as const)
  test(`a body ${title} never reaches the provider unchecked`, async () => {
    const { fetch, upstream } = await openWorld([w])
    const response = await fetch(
      new Request('http://gateway/v1/chat/completions', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: encode(JSON.stringify(chat(WORD))),
      }),
    )
    assert.ok(response.status >= 400, `${response.status}`)
    assert.equal(upstream.calls, [])
  })

for (const path of [
  '/v1/../v1/chat/completions',
  '/v1/chat/completions/',
  '//v1/chat/completions',
  '/v1//chat/completions',
  '/v1/chat/%63ompletions',
  '/V1/chat/completions',
  '/v1/chat/completions?x=1',
  '/v1/./chat/completions',
  '/v1/chat/completions;x=1',
  '/v1/v1/chat/completions',
  '/chat/completions',
])
  test(`a request to ${path} never bypasses the guards`, async () => {
    for (const basePath of ['', '/ai']) {
      const { send, upstream } = await openWorld([w], { options: { basePath } })
      for (const base of ['', '/ai', '/ai/../ai', '/other']) {
        const { status } = await send(base + path, chat(WORD))
        assert.ok(status >= 400, `${base}${path}: ${status}`)
      }
      assert.equal(upstream.calls, [])
    }
  })
