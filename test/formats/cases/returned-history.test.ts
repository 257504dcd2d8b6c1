import type { JsonObject } from '../../../src/lib/json.ts'
import { wireFormats } from '../../../src/types/unions.ts'
import type { WireFormat } from '../../../src/types.ts'
import { json } from '../../pipeline/support/upstream.ts'
import { assert, suite } from '../../support/suite.ts'
import { PNG } from '../fields/field.ts'
import { answerOf } from './collect-response.ts'
import { fullResponses, geminiChunk } from './responses.ts'
import { catalog, getStream, openGateway, providerOf, request, send } from './support.ts'

const test = suite('cases: history that a client sends back')

/** Returns the response as a turn of the conversation, and the client's next message. */
const followUps: Readonly<Record<WireFormat, (answer: JsonObject) => JsonObject>> = {
  'openai-chat': ({ choices }) => {
    const [{ message }] = choices as [{ message: JsonObject }]
    return { messages: [{ role: 'user', content: 'Go' }, message, { role: 'user', content: 'on' }] }
  },
  'openai-responses': ({ output }) => ({
    input: [{ role: 'user', content: 'Go' }, ...(output as JsonObject[]), { role: 'user', content: 'on' }],
  }),
  'anthropic-messages': ({ content }) => ({
    messages: [
      { role: 'user', content: 'Go' },
      { role: 'assistant', content },
      { role: 'user', content: 'on' },
    ],
  }),
  gemini: ({ candidates }) => {
    const [{ content }] = candidates as [{ content: JsonObject }]
    const user = (text: string) => ({ role: 'user', parts: [{ text }] })
    return { contents: [user('Go'), content, user('on')] }
  },
}

test("other providers get Anthropic's history without its fallback block, with a warning", async () => {
  const content = [
    { type: 'text', text: 'I will ' },
    { type: 'fallback', from: { model: 'claude-a' }, to: { model: 'claude-b' }, trigger: { type: 'refusal' } },
    { type: 'text', text: 'not.' },
  ]
  const body = followUps['anthropic-messages']({ content })
  for (const format of ['openai-chat', 'openai-responses', 'gemini'] as const) {
    const model = `${providerOf[format]}/m`
    const firstCall = await send({
      client: 'anthropic-messages',
      model,
      body,
      respond: () => json(fullResponses[format]),
    })
    assert.equal([firstCall.response.status, firstCall.warned], [200, ['dropped:messages[1].content[1]']], format)
    assert.match(JSON.stringify(firstCall.sent), /I will .*not\./)
    assert.not.match(JSON.stringify(firstCall.sent), /fallback|claude-/)
  }
  const own = await send({
    ...{ client: 'anthropic-messages', model: 'messages/m', body },
    respond: () => json(fullResponses['anthropic-messages']),
  })
  assert.equal([own.sent.messages, own.warned], [body.messages, []])
})

/** Returns the provider's own turn, as it comes back from a client of another format. */
async function turnAgain(client: WireFormat, model: string, response: JsonObject, chunks?: JsonObject[]) {
  const { world, upstream } = await openGateway(
    () => (chunks && upstream.calls.length === 1 ? getStream('gemini', chunks) : json(response)),
    {
      connections: [model.split('/')[0] ?? ''],
      catalog: { ...catalog, openrouter: { baseUrl: 'http://openrouter.test/v1', models: [{ id: 'm' }] } },
    },
  )
  const first = await request(world, { client, model, stream: chunks !== undefined })
  const result = chunks ? await answerOf[client](first) : await first.json()
  const second = await request(world, { client, model, body: followUps[client](result) })
  assert.is(second.status, 200, await second.text())
  const { messages, contents } = JSON.parse(upstream.calls.at(-1)?.body ?? '')
  return (messages ?? contents)[1]
}

const details = [
  { type: 'reasoning.text', text: 'Hm.', signature: 's1', format: 'anthropic-claude-v1', index: 0 },
  { type: 'reasoning.summary', summary: 'So.', format: 'openai-responses-v1', index: 1 },
  { type: 'reasoning.encrypted', data: 'd1', id: 'rs_1', format: 'openai-responses-v1', index: 2 },
]

for (const client of wireFormats.filter((format) => format !== 'openai-chat'))
  test(`reasoning details keep their fields (${client} client)`, async () => {
    const message = { role: 'assistant', content: 'a', reasoning_details: details }
    const response = { ...fullResponses['openai-chat'], choices: [{ index: 0, message, finish_reason: 'stop' }] }
    assert.equal((await turnAgain(client, 'openrouter/m', response)).reasoning_details, details)
  })

for (const client of ['openai-chat', 'gemini'] as const)
  test(`reasoning around a search stays before the text (${client} client)`, async () => {
    const createThinking = (thinking: string) => ({ type: 'thinking', thinking, signature: `${thinking}=` })
    const search = { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'rain' } }
    const found = { type: 'web_search_tool_result', tool_use_id: 's1', content: [] }
    const content = [createThinking('Hm'), search, found, createThinking('So'), { type: 'text', text: 'Rain.' }]
    const again = await turnAgain(client, 'messages/m', { ...fullResponses['anthropic-messages'], content })
    assert.equal(again.content, [createThinking('Hm'), createThinking('So'), { type: 'text', text: 'Rain.' }])
  })

const DRAWS = 'gemini/gemini-3-pro-image'
const image = (thoughtSignature?: string) => ({
  inlineData: { mimeType: 'image/png', data: PNG },
  ...(thoughtSignature && { thoughtSignature }),
})
const imageTurns: readonly [name: string, parts: JsonObject[]][] = [
  ['after text', [{ text: 'Here', thoughtSignature: 'c2lnMA==' }, image('c2lnMQ==')]],
  ['before text', [image('c2lnMQ=='), { text: 'Here' }]],
  ['consecutively', [image('c2lnMQ=='), image(), image('c2lnMw==')]],
]
const signatures = (parts: JsonObject[]) =>
  parts.map((part) => [part.inlineData ? 'picture' : part.text, part.thoughtSignature])

for (const client of ['openai-chat', 'openai-responses'] as const)
  for (const [name, parts] of imageTurns)
    for (const isStream of client === 'openai-responses' ? [false, true] : [false])
      test(`images keep their signatures ${name} (${client} client${isStream ? ', streamed' : ''})`, async () => {
        const chunks = [...parts.map((part) => geminiChunk([part])), geminiChunk([], 'STOP')]
        const response = geminiChunk(parts, 'STOP')
        const again = await turnAgain(client, 'gemini/m', response, isStream ? chunks : undefined)
        const byText = ([a]: unknown[], [b]: unknown[]) => Number(a === 'picture') - Number(b === 'picture')
        const wanted = signatures(parts)
        // Chat Completions messages have their text before their images.
        assert.equal(signatures(again.parts), client === 'openai-chat' ? wanted.sort(byText) : wanted)
      })

test("an image model gets a placeholder for signatures that other models' content lacks", async () => {
  const skip = 'skip_thought_signature_validator'
  for (const [model, first, other] of [
    [DRAWS, skip, skip],
    ['gemini/gemini-2.5-flash-image', undefined, undefined],
    ['gemini/gemini-3-pro-preview', undefined, undefined],
  ] as const) {
    const { world, upstream } = await openGateway(() => json(fullResponses.gemini), { connections: ['gemini'] })
    const images = [{ type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } }]
    const message = { role: 'assistant', content: 'Here', images }
    await request(world, { client: 'openai-chat', model, body: followUps['openai-chat']({ choices: [{ message }] }) })
    assert.equal(signatures(JSON.parse(upstream.calls[0]?.body ?? '').contents[1].parts), [
      ['Here', first],
      ['picture', other],
    ])
  }
})

for (const [client, elsewhere] of [
  ['anthropic-messages', 'messages/m'],
  ['openai-responses', 'responses/m'],
] as const)
  for (const stream of [false, true])
    test(`unsigned reasoning never reaches a vendor that requires signatures (${client} client${stream ? ', streamed' : ''})`, async () => {
      const thoughts = geminiChunk([{ text: 'Hm.', thought: true }, { text: 'Yes.' }], 'STOP')
      const { world, upstream } = await openGateway(({ provider }) => {
        if (provider !== 'gemini') return json(fullResponses[client])
        return stream ? getStream('gemini', [thoughts]) : json(thoughts)
      })
      const first = await request(world, { client, model: 'gemini/m', stream })
      const result = stream ? await answerOf[client](first) : await first.json()
      assert.match(JSON.stringify(result), 'Hm.')
      const second = await request(world, { client, model: elsewhere, body: followUps[client](result) })
      assert.is(second.status, 200, await second.text())
      assert.match(upstream.calls[1]?.body ?? '', 'Yes.')
      assert.not.match(upstream.calls[1]?.body ?? '', /Hm\.|signalbox|"rs_/)
    })

const comment = {
  ...{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', phase: 'commentary' },
  content: [{ type: 'output_text', text: 'I look.', annotations: [] }],
}
const called = { type: 'function_call', id: 'fc_1', call_id: 'call_Ab12Cd34', name: 'look', arguments: '{"at":1}' }
const commented = { id: 'resp_1', object: 'response', status: 'completed', output: [comment, called] }

for (const client of wireFormats.filter((format) => format !== 'openai-responses'))
  for (const stream of [false, true])
    test(`commentary before a call keeps its phase (${client} client${stream ? ', streamed' : ''})`, async () => {
      const end = { type: 'response.completed', response: commented }
      const { world, upstream } = await openGateway(
        () => (stream && upstream.calls.length === 1 ? getStream('openai-responses', [end]) : json(commented)),
        { connections: ['responses'] },
      )
      const model = 'responses/m'
      const first = await request(world, { client, model, stream })
      const result = stream ? await answerOf[client](first) : await first.json()
      await request(world, { client, model, body: followUps[client](result) })
      const { input } = JSON.parse(upstream.calls[1]?.body ?? '')
      assert.equal(input[1], { type: 'message', role: 'assistant', content: 'I look.', phase: 'commentary' })
    })
