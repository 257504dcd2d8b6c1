import type { JsonObject } from '../../../src/lib/json.ts'
import { defaultCatalog } from '../../../src/protocols/providers/catalog.ts'
import type { Catalog } from '../../../src/types.ts'
import { json } from '../../pipeline/support/upstream.ts'
import { assert, suite } from '../../support/suite.ts'
import { converseResponse } from '../support/event-stream.ts'
import { fullResponses } from './responses.ts'
import { openGateway, type RequestInput, send } from './support.ts'

const test = suite('cases: cache breakpoints')

const CLAUDE = 'claude-sonnet-4-5'

const mark = (ttl?: string) => ({ cache_control: { type: 'ephemeral', ...(ttl && { ttl }) } })
const text = (text: string, extra: JsonObject = {}) => ({ type: 'text', text, ...extra })
const createMessage = (...content: JsonObject[]) => ({ role: 'user', content })

type Asks = Pick<RequestInput, 'client' | 'model' | 'respond'> & Partial<RequestInput>

const catalog: Catalog = {
  anthropic: { baseUrl: 'http://anthropic.test/v1', format: 'anthropic-messages' },
  'anthropic-compatible-a': { baseUrl: 'http://a.test/v1', format: 'anthropic-messages' },
  openrouter: { baseUrl: 'http://openrouter.test/v1', format: 'openai-chat' },
  bedrock: { cloud: 'bedrock', format: 'bedrock-converse' },
}

/** Targets for a Chat Completions request, or for a Messages request if the target uses another format. */
const targets: Record<string, Asks> = {
  Anthropic: {
    client: 'openai-chat',
    model: `anthropic/${CLAUDE}`,
    respond: () => json(fullResponses['anthropic-messages']),
    catalog,
  },
  'an Anthropic-compatible server': {
    ...{ client: 'openai-chat', model: `anthropic-compatible-a/${CLAUDE}`, catalog },
    respond: () => json(fullResponses['anthropic-messages']),
  },
  Bedrock: {
    ...{ client: 'anthropic-messages', model: 'bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0', catalog },
    connections: [{ provider: 'bedrock', providerSpecificData: { region: 'eu-west-1' } }],
    respond: () => json(converseResponse()),
  },
  OpenRouter: {
    ...{ client: 'anthropic-messages', model: `openrouter/anthropic/${CLAUDE}`, catalog },
    respond: () => json(fullResponses['openai-chat']),
  },
}

/** Returns the lifetimes of all breakpoints in a request, in prefix order. */
function getMarks(sent: unknown): string[] {
  const { tools, toolConfig, system, messages, cache_control } = sent as JsonObject
  const found = JSON.stringify([tools, toolConfig, system, messages, cache_control && { cache_control }]).matchAll(
    /"(?:cache_control|cachePoint)":\{"type":"(?:ephemeral|default)"(?:,"ttl":"(\w+)")?/g,
  )
  return [...found].map(([, ttl = '5m']) => ttl)
}

const tools = (extra: JsonObject = {}) => [
  { type: 'function', function: { name: 'f', parameters: { type: 'object' } }, ...extra },
]
const messagesTools = (extra: JsonObject = {}) => [{ name: 'f', input_schema: { type: 'object' }, ...extra }]

/** Returns the same conversation in either format, with breakpoints on the tool, the instructions, and the turns. */
function bodyFor(client: string, [ofTool, ofSystem, ...ofTurns]: JsonObject[]): JsonObject {
  const turns = ofTurns.flatMap((item, index) => [
    ...(index > 0 ? [{ role: 'assistant', content: 'ok' }] : []),
    createMessage(text(`turn ${index}`, item)),
  ])
  if (client === 'anthropic-messages')
    return { tools: messagesTools(ofTool), system: [text('Be brief.', ofSystem)], messages: turns }
  return { tools: tools(ofTool), messages: [{ role: 'system', content: [text('Be brief.', ofSystem)] }, ...turns] }
}

const NONE = {}
const five = mark()
const hour = mark('1h')

/** The breakpoints on the tool, the instructions, and the turns, followed by the breakpoints that a provider receives. */
const fitted: Record<string, [given: JsonObject[], sent: string[]]> = {
  'four breakpoints': [
    [five, five, five, five],
    ['5m', '5m', '5m', '5m'],
  ],
  'a fifth breakpoint': [
    [five, five, five, five, five],
    ['5m', '5m', '5m', '5m'],
  ],
  'a longer lifetime after a shorter one': [
    [NONE, five, hour],
    ['5m', '5m'],
  ],
  'longer lifetimes before shorter ones': [
    [hour, hour, five, five],
    ['1h', '1h', '5m', '5m'],
  ],
  'unsorted lifetimes': [
    [hour, five, hour, five],
    ['1h', '5m', '5m', '5m'],
  ],
}

for (const [name, target] of Object.entries(targets)) {
  for (const [label, [input, sent]] of Object.entries(fitted))
    test(`breakpoints have the form that ${name} accepts: ${label}`, async () => {
      const { sent: body, warned } = await send({ ...target, body: bodyFor(target.client, input) })
      assert.equal(getMarks(body), sent)
      const lost = input.filter(({ cache_control }) => cache_control).length - sent.length
      assert.is(warned.filter((value) => value.startsWith('dropped:')).length, lost)
      const isChanged = label.includes('after') || label.includes('unsorted')
      assert.is(
        warned.some((value) => value.startsWith('replaced:')),
        isChanged,
      )
    })

  test(`a blank text block loses its breakpoint (${name})`, async () => {
    for (const blank of ['', ' \n']) {
      const messages = [
        createMessage(text('a')),
        { role: 'assistant', content: 'b' },
        createMessage(text('c'), text(blank, five)),
      ]
      const { sent, warned } = await send({ ...target, body: { messages } })
      assert.equal([getMarks(sent), warned], [['5m'], []])
      assert.not.match(JSON.stringify(sent), /"text":"\s*(?:\\n)?","cache_control"/)
    }
  })

  test(`a blank turn's breakpoint moves to the previous turn (${name})`, async () => {
    const messages = [
      createMessage(text('a')),
      { role: 'assistant', content: 'b' },
      createMessage(text('c')),
      createMessage(text(' ', five)),
    ]
    const { sent } = await send({ ...target, body: { messages } })
    assert.equal(getMarks(sent), ['5m'])
  })
}

/** Targets for which a Messages request's top-level breakpoint is translated or changed. */
const wholly: Record<string, Asks> = {
  Bedrock: targets.Bedrock as Asks,
  OpenRouter: targets.OpenRouter as Asks,
  Vertex: {
    ...{
      client: 'anthropic-messages',
      model: `vertex/${CLAUDE}`,
      respond: () => json(fullResponses['anthropic-messages']),
    },
    catalog: defaultCatalog,
    connections: [{ provider: 'vertex', apiKey: 'ya29.token', providerSpecificData: { project: 'p' } }],
  },
}

for (const [name, target] of Object.entries(wholly)) {
  test(`a top-level breakpoint applies to the last block (${name})`, async () => {
    const body = {
      ...mark('1h'),
      messages: [createMessage(text('a')), { role: 'assistant', content: 'b' }, createMessage(text('c'), text(' '))],
    }
    const { sent, warned } = await send({ ...target, body })
    assert.equal([getMarks(sent), warned, sent.cache_control], [['1h'], [], undefined])
    assert.match(JSON.stringify(sent), /"text":"c"\}?,(?:"cache_control"|\{"cachePoint")/)
  })

  test(`a top-level breakpoint also applies to a plain string (${name})`, async () => {
    const { sent, warned } = await send({ ...target, body: { ...mark(), messages: [{ role: 'user', content: 'a' }] } })
    assert.equal([getMarks(sent), warned], [['5m'], []])
  })

  test(`a top-level breakpoint causes neither a fifth breakpoint nor increasing lifetimes (${name})`, async () => {
    const four = { ...bodyFor('anthropic-messages', [five, five, five, five, NONE]), ...mark() }
    assert.is(getMarks((await send({ ...target, body: four })).sent).length, 4)
    const late = { ...bodyFor('anthropic-messages', [NONE, five, NONE]), ...mark('1h') }
    assert.equal(getMarks((await send({ ...target, body: late })).sent), ['5m', '5m'])
  })

  test(`the last block's own breakpoint takes precedence over a top-level one (${name})`, async () => {
    const { sent } = await send({
      ...target,
      body: { ...bodyFor('anthropic-messages', [NONE, NONE, five]), ...mark() },
    })
    assert.equal(getMarks(sent), ['5m'])
  })
}

test("a top-level breakpoint takes one of Anthropic's four slots", async () => {
  const blocks = ['a', 'b', 'c', 'd'].map((content) =>
    text(content, { providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } } }),
  )
  const { upstream, world } = await openGateway(() => json(fullResponses['anthropic-messages']), {
    catalog,
    connections: ['anthropic'],
  })
  const body = {
    prompt: [{ role: 'user', content: [...blocks, text('e')] }],
    providerOptions: { anthropic: { cacheControl: { type: 'ephemeral', ttl: '1h' } } },
  }
  const response = await world.post('/v4/ai/language-model', body, {
    headers: { 'ai-language-model-id': `anthropic/${CLAUDE}` },
  })
  const sent = JSON.parse(upstream.calls[0]?.body ?? '{}')
  assert.equal([response.status, getMarks(sent)], [200, ['5m', '5m', '5m', '5m']])
  assert.equal(sent.cache_control, { type: 'ephemeral', ttl: '5m' })
})

test("breakpoints inside a tool result move to the result if its blocks can't have any", async () => {
  const use = { type: 'tool_use', id: 't1', name: 'f', input: {} }
  const result = { type: 'tool_result', tool_use_id: 't1', content: [text('x', five), text('y', five)] }
  const messages = [createMessage(text('a')), { role: 'assistant', content: [use] }, createMessage(result)]
  const { sent } = await send({ ...(targets.Bedrock as Asks), body: { tools: messagesTools(), messages } })
  assert.equal(getMarks(sent), ['5m'])
})

test('a search result that becomes several text blocks keeps a single breakpoint', async () => {
  const found = { type: 'search_result', source: 's', title: 't', content: [text('a', five), text('b')], ...five }
  const { sent } = await send({ ...(targets.OpenRouter as Asks), body: { messages: [createMessage(found)] } })
  assert.equal(getMarks(sent), ['5m'])
})

test('Nova gets no breakpoints on tools', async () => {
  const nova = { ...(targets.Bedrock as Asks), model: 'bedrock/eu.amazon.nova-pro-v1:0' }
  const { sent, warned } = await send({ ...nova, body: bodyFor('anthropic-messages', [five, five, five]) })
  assert.equal([getMarks(sent), warned], [['5m', '5m'], ['dropped:tools[0].cache_control']])
})
