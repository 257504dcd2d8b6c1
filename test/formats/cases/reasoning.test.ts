import type { JsonObject } from '../../../src/lib/json.ts'
import { prepareRequest } from '../../../src/protocols/formats/canonical/prepare/prepare.ts'
import { responsesTranslator } from '../../../src/protocols/formats/openai-responses/responses-translator.ts'
import type { WireFormat } from '../../../src/types.ts'
import { json } from '../../pipeline/support/upstream.ts'
import { assert, suite } from '../../support/suite.ts'
import { contexts } from '../support/contexts.ts'
import { begin, followUps, thinking } from './conversations.ts'
import { block, fullResponses, messageEnd, messageStart } from './responses.ts'
import { getData, getFormat, getStream, openGateway, request, send } from './support.ts'

const test = suite('cases: reasoning')

const createRequest = (client: WireFormat, model: string, body: JsonObject) =>
  send({ client, model, body, respond: () => json(fullResponses[getFormat(model)]) })

/**
 * A chat client that keeps only the fields of OpenAI's own format. It continues on the same gateway, or on a gateway that doesn't know the
 * conversation.
 */
async function runForgetfulLoop(model: string, at: 'the same' | 'another') {
  const open = () => openGateway(() => json(thinking[getFormat(model)]), { connections: [model.split('/')[0] ?? ''] })
  const one = await open()
  const first = await (await request(one.world, { client: 'openai-chat', model, body: begin['openai-chat'] })).json()
  const { role, content, tool_calls } = first.choices[0].message
  const results = tool_calls.map(({ id }: { id: string }) => ({ role: 'tool', tool_call_id: id, content: 'seen' }))
  const messages = [{ role: 'user', content: 'go' }, { role, content, tool_calls }, ...results]
  const body = { ...begin['openai-chat'], messages }
  const { world, upstream } = at === 'the same' ? one : await open()
  const response = await request(world, { client: 'openai-chat', model, body })
  assert.is(response.status, 200)
  return JSON.parse(upstream.calls.at(-1)?.body ?? '{}')
}

const getSignatures = ({ contents }: { contents: { parts: JsonObject[] }[] }) =>
  contents[1]?.parts.filter(({ functionCall }) => functionCall).map(({ thoughtSignature }) => thoughtSignature)

test('a tool loop continues with stored reasoning if the client dropped it', async () => {
  const { messages, thinking: createRequest } = await runForgetfulLoop('anthropic/claude-sonnet-4-5', 'the same')
  assert.is(createRequest.type, 'enabled')
  assert.equal(messages[1].content.slice(0, 2), [
    { type: 'thinking', thinking: 'Let me look.', signature: 'SIGNATURE-1' },
    { type: 'redacted_thinking', data: 'REDACTED-2' },
  ])
  assert.equal(getSignatures(await runForgetfulLoop('gemini/m', 'the same')), ['SIGNATURE-1', undefined])
})

test('a tool loop continues without reasoning if none is stored', async () => {
  const sent = await runForgetfulLoop('anthropic/claude-sonnet-4-5', 'another')
  assert.equal(sent.thinking, { type: 'disabled' })
  assert.is(sent.messages[1].content[0].type, 'tool_use')
})

test("Gemini's first call gets a placeholder for a missing signature", async () => {
  const signatures = getSignatures(await runForgetfulLoop('gemini/m', 'another'))
  assert.equal(signatures, ['skip_thought_signature_validator', undefined])
})

test("DeepSeek gets the previous turn's reasoning back", async () => {
  const model = 'deepseek/deepseek-v4-pro'
  const { world, upstream } = await openGateway(() => json(thinking['openai-chat']), { connections: ['deepseek'] })
  const client = 'anthropic-messages'
  const first = await (await request(world, { client, model, body: begin[client] })).json()
  await request(world, { client, model, body: followUps[client](first) })
  assert.is(JSON.parse(upstream.calls.at(-1)?.body ?? '').messages[1].reasoning_content, 'Let me look. SIGNATURE-1')
})

const signed = { type: 'thinking', thinking: '', signature: 'x' }

test('reasoning with only a signature is kept, and reasoning without text or signature is dropped', async () => {
  const empty = { type: 'thinking', thinking: '', signature: '' }
  const content = [signed, empty, { type: 'text', text: 'a' }]
  const reply = { ...fullResponses['anthropic-messages'], content }
  const { response, world, upstream } = await send({
    client: 'openai-chat',
    model: 'messages/m',
    respond: () => json(reply),
  })
  const { message } = (await response.json()).choices[0]
  assert.is(message.reasoning_details.length, 1)
  const stream = () =>
    getStream('anthropic-messages', [
      messageStart(),
      ...block(0, { ...empty }, { type: 'signature_delta', signature: 'x' }),
      ...block(1, empty),
      ...block(2, { type: 'text', text: '' }, { type: 'text_delta', text: 'a' }),
      ...messageEnd('end_turn'),
    ])
  const streamed = await send({ client: 'openai-chat', model: 'messages/m', stream: true, respond: stream })
  const details = (await getData(streamed.response)).flatMap(({ choices }) => {
    const [choice] = choices as { delta: { reasoning_details?: unknown[] } }[]
    return choice?.delta.reasoning_details ?? []
  })
  assert.is(details.length, 1)
  const messages = [{ role: 'user', content: 'a' }, message, { role: 'user', content: 'b' }]
  await request(world, { client: 'openai-chat', model: 'messages/m', body: { messages } })
  const [, turn] = JSON.parse(upstream.calls.at(-1)?.body ?? '').messages
  assert.equal(turn.content, [signed, { type: 'text', text: 'a' }])
})

test('reasoning items are sent only if they have content, and encrypted reasoning is requested', () => {
  const { target, warnings } = contexts(responsesTranslator, { format: 'openai-responses' })
  const input = [
    { role: 'user', content: 'a' },
    { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'g' },
    { type: 'reasoning', id: 'rs_2', summary: [] },
    {
      type: 'message',
      role: 'assistant',
      id: 'msg_1',
      status: 'completed',
      content: [{ type: 'output_text', text: 'b' }],
    },
    { role: 'user', content: 'c' },
  ]
  const parsed = responsesTranslator.parseRequest({ model: 'm', input }, { warnings })
  const { request: prepared } = prepareRequest(parsed, {
    ...target,
    supportedOptions: responsesTranslator.supportedOptions,
  })
  const { body } = responsesTranslator.writeRequest(prepared, target)
  const items = body.input as JsonObject[]
  const thoughts = items.filter(({ type }) => type === 'reasoning')
  assert.equal(
    thoughts.map(({ encrypted_content }) => encrypted_content),
    ['g'],
  )
  assert.ok([undefined, 'rs_1'].includes(thoughts[0]?.id as string | undefined))
  assert.is(items.filter(({ role }) => role).length, 3)
  assert.equal([body.store, body.include], [false, ['reasoning.encrypted_content']])
})

/** The field with which each vendor disables reasoning. */
const off: Record<string, (sent: JsonObject) => boolean> = {
  'anthropic/claude-sonnet-4-5': ({ thinking }) => !thinking || (thinking as JsonObject).type === 'disabled',
  'messages/m': ({ thinking }) => !thinking || (thinking as JsonObject).type === 'disabled',
  'alibaba/qwen3-max': ({ enable_thinking }) => enable_thinking === false,
  'deepseek/deepseek-v4-pro': ({ thinking }) => (thinking as JsonObject | undefined)?.type === 'disabled',
}

for (const [model, isOff] of Object.entries(off)) {
  test(`a forced call and reasoning are never requested together (${model})`, async () => {
    const client = getFormat(model) === 'openai-chat' ? 'openai-responses' : 'openai-chat'
    const { sent, warned } = await createRequest(client, model, { ...begin[client], tool_choice: 'required' })
    const isForced = sent.tool_choice !== undefined && !/auto/.test(JSON.stringify(sent.tool_choice))
    assert.ok(!isForced || isOff(sent), JSON.stringify(sent))
    assert.ok(warned.length > 0)
  })
}

test('a reasoning budget leaves tokens for the response', async () => {
  for (const [limit, effort] of [
    [1_024, 'high'],
    [1_500, 'medium'],
    [9_000, 'high'],
    [100, 'low'],
  ] as const) {
    const body = { max_completion_tokens: limit, reasoning_effort: effort }
    const { sent, warned } = await createRequest('openai-chat', 'anthropic/claude-sonnet-4-5', body)
    const { type, budget_tokens: budget } = sent.thinking as { type: string; budget_tokens: number }
    if (type === 'disabled') assert.ok(warned.includes('dropped:reasoning_effort'), warned.join())
    else assert.ok(budget >= 1_024 && budget < Number(sent.max_tokens), `${budget} of ${sent.max_tokens}`)
  }
})

/** A provider and model, the client's reasoning field, and the provider's field for showing reasoning. */
const shown: readonly (readonly [model: string, asked: JsonObject, wish: string])[] = [
  ['openai/gpt-5.1', { type: 'enabled', budget_tokens: 2_048 }, '"summary":"auto"'],
  ['openai/gpt-5.1', { type: 'enabled', budget_tokens: 2_048, display: 'summarized' }, '"summary":"auto"'],
  ['google/gemini-2.5-flash', { type: 'enabled', budget_tokens: 2_048 }, '"includeThoughts":true'],
  ['google/gemini-3-flash-preview', { type: 'enabled', budget_tokens: 2_048 }, '"includeThoughts":true'],
  ['google/gemini-2.5-flash', { type: 'enabled', budget_tokens: 2_048, display: 'omitted' }, '"includeThoughts":false'],
]

for (const [model, config, wish] of shown)
  test(`an Anthropic client gets the reasoning that it requested: ${model} ${JSON.stringify(config)}`, async () => {
    assert.ok(JSON.stringify(await getThinking(model, config)).includes(wish))
  })

test('no visible reasoning is requested unless the Anthropic client wants to see it', async () => {
  const quiet = [
    { type: 'enabled', budget_tokens: 2_048, display: 'omitted' },
    { type: 'adaptive' },
    { type: 'disabled' },
  ]
  for (const thinking of quiet)
    for (const model of ['openai/gpt-5.1', 'google/gemini-2.5-flash'])
      assert.not.match(JSON.stringify(await getThinking(model, thinking)), /"summary"|"includeThoughts":true/)
})

/** Returns the request to each provider, in the format in which that provider hides reasoning. */
async function getThinking(model: string, thinking: JsonObject): Promise<unknown> {
  const [provider = '', id = ''] = model.split('/')
  const format = provider === 'google' ? 'gemini' : 'openai-responses'
  const { sent } = await send({
    ...{ client: 'anthropic-messages', model, body: { thinking, max_tokens: 8_000 } },
    catalog: { [provider]: { baseUrl: `http://${provider}.test/v1`, format, models: [{ id }] } },
    respond: () => json(fullResponses[format]),
  })
  const { generationConfig: config } = sent
  return format === 'gemini' ? config : sent.reasoning
}
