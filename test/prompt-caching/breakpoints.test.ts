import type { JsonObject } from '../../src/lib/json.ts'
import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import { fullResponses } from '../formats/cases/responses.ts'
import { type RequestInput, send } from '../formats/cases/support.ts'
import { converseResponse } from '../formats/support/event-stream.ts'
import { json } from '../pipeline/support/upstream.ts'
import { assert, suite } from '../support/suite.ts'
import { listMarks } from './support/breakpoints.ts'

const test = suite('prompt caching: client breakpoints')

type Target = Pick<RequestInput, 'client' | 'model' | 'respond'> & Partial<RequestInput>

const messages: Target = {
  ...{ client: 'anthropic-messages', model: 'anthropic/claude-sonnet-4-5' },
  respond: () => json(fullResponses['anthropic-messages']),
}
const chatToClaude: Target = { ...messages, client: 'openai-chat' }
const bedrock: Target = {
  ...{ client: 'anthropic-messages', model: 'bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0' },
  ...{ catalog: defaultCatalog, connections: [{ provider: 'bedrock', providerSpecificData: { region: 'eu-west-1' } }] },
  respond: () => json(converseResponse()),
}
const vertex: Target = {
  ...{ client: 'anthropic-messages', model: 'vertex/claude-sonnet-4-5', catalog: defaultCatalog },
  connections: [{ provider: 'vertex', apiKey: 'ya29.token', providerSpecificData: { project: 'p' } }],
  respond: () => json(fullResponses['anthropic-messages']),
}
const responses: Target = {
  ...{ client: 'openai-chat', model: 'openai/gpt-5.6' },
  catalog: { openai: { baseUrl: 'http://openai.test/v1', format: 'openai-responses' } },
  respond: () => json(fullResponses['openai-responses']),
}

const mark = (ttl?: string) => ({ cache_control: { type: 'ephemeral', ...(ttl && { ttl }) } })
const text = (text: string, extra: JsonObject = {}) => ({ type: 'text', text, ...extra })
const user = (...content: JsonObject[]) => ({ role: 'user', content })
const output = (...content: JsonObject[]) => ({ role: 'assistant', content })
const tool = (extra: JsonObject = {}) => ({ name: 'f', input_schema: { type: 'object' }, ...extra })
const use = (id: string) => ({ type: 'tool_use', id, name: 'f', input: {} })
const result = (id: string, extra: JsonObject = {}) => ({
  ...{ type: 'tool_result', tool_use_id: id },
  content: [text(`result of ${id}`)],
  ...extra,
})

const blanks: Record<string, JsonObject> = {
  'blank text': text(' \n'),
  'empty text': text(''),
  thinking: { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
  'redacted thinking': { type: 'redacted_thinking', data: 'ZGF0YQ==' },
}
for (const [label, last] of Object.entries(blanks))
  test(`if a conversation ends with ${label}, its breakpoint moves to the preceding block`, async () => {
    const turns = last.type === 'text' ? [user(text('a'), last)] : [user(text('a')), output(last)]
    const { sent, response } = await send({ ...vertex, body: { ...mark(), messages: turns } })
    assert.is(response.status, 200)
    assert.equal(listMarks(sent), [{ place: 'messages', ttl: '5m', text: 'a' }])
  })

test('a breakpoint on one of three parallel tool results stays a single breakpoint', async () => {
  const turns = [
    user(text('a')),
    output(use('t1'), use('t2'), use('t3')),
    user(result('t1'), result('t2'), result('t3', mark())),
  ]
  const { sent } = await send({ ...bedrock, body: { tools: [tool()], messages: turns } })
  assert.is(listMarks(sent).length, 1)
})

test("a breakpoint on a block that isn't sent to the target is dropped, and takes no slot", async () => {
  const turns = [
    user(text('a', mark())),
    output(text('b', mark())),
    user(text('c', mark())),
    output(text('', mark()), text('d')),
    user(text('e', mark())),
  ]
  const { sent } = await send({ ...bedrock, body: { messages: turns } })
  assert.equal(
    listMarks(sent).map(({ text: marked }) => marked),
    ['a', 'b', 'c', 'e'],
  )
})

test("a client's breakpoint on its tools alone stays unchanged", async () => {
  const body = { tools: [tool(mark('1h'))], messages: [user(text('a'))] }
  for (const target of [messages, bedrock, vertex])
    assert.equal(
      listMarks((await send({ ...target, body })).sent).map(({ place, ttl }) => [place, ttl]),
      [['tools', '1h']],
    )
})

const four = {
  tools: [tool(mark())],
  system: [text('Be brief.', mark())],
  messages: [user(text('a', mark())), output(text('b')), user(text('c', mark()))],
}

test("a client's four breakpoints stay four", async () => {
  for (const target of [messages, bedrock, vertex])
    assert.is(listMarks((await send({ ...target, body: four })).sent).length, 4)
})

test('a top-level breakpoint and four others become four breakpoints, with one warning', async () => {
  const turns = [...four.messages, output(text('d')), user(text('e'))]
  const { sent, warned } = await send({ ...bedrock, body: { ...four, messages: turns, ...mark() } })
  assert.equal(
    listMarks(sent).map(({ text: marked }) => marked),
    ['f', 'Be brief.', 'c', 'e'],
  )
  assert.equal(warned, ['dropped:messages[0].content[0].cache_control'])
})

test('with too many breakpoints, the last ones on the tools, instructions, and conversation are kept', async () => {
  const body = {
    tools: [tool(mark())],
    system: [text('One.', mark()), text('Two.', mark())],
    messages: [user(text('a', mark())), output(text('b', mark())), user(text('c', mark()))],
  }
  const { sent, warned } = await send({ ...bedrock, body })
  assert.equal(
    listMarks(sent).map(({ text: marked }) => marked),
    ['f', 'Two.', 'b', 'c'],
  )
  assert.equal(warned, ['dropped:messages[0].content[0].cache_control', 'dropped:system[0].cache_control'])
})

test('an hour-long lifetime after a five-minute one is shortened to five minutes, with a warning', async () => {
  const body = { system: [text('Be brief.', mark('5m'))], messages: [user(text('a', mark('1h')))] }
  const { sent, warned } = await send({ ...bedrock, body })
  assert.equal(
    listMarks(sent).map(({ ttl }) => ttl),
    ['5m', '5m'],
  )
  assert.equal(warned, ['replaced:messages[0].content[0].cache_control.ttl'])
})

test('a top-level breakpoint moves to the last block at Vertex, without a warning', async () => {
  const body = { ...mark(), messages: [user(text('a')), output(text('b')), user(text('c'), text('d'))] }
  const { sent, warned } = await send({ ...vertex, body })
  assert.equal(listMarks(sent), [{ place: 'messages', ttl: '5m', text: 'd' }])
  assert.equal([sent.cache_control, warned], [undefined, []])
})

for (const ttl of ['12h', '30m'])
  test(`a breakpoint of ${ttl} lasts an hour at Anthropic, or five minutes after a shorter one`, async () => {
    const breakpoint = (lifetime: string) => ({ prompt_cache_breakpoint: { mode: 'explicit', ttl: lifetime } })
    const turns = [
      { role: 'system', content: [text('Be brief.', breakpoint(ttl))] },
      user(text('a', mark())),
      { role: 'assistant', content: 'b' },
      user(text('c', breakpoint(ttl))),
    ]
    const { sent } = await send({ ...chatToClaude, body: { messages: turns } })
    assert.equal(
      listMarks(sent).map(({ ttl: sentTtl }) => sentTtl),
      ['1h', '5m', '5m'],
    )
  })

test('`cache_control` in Chat Completions becomes a breakpoint in Responses', async () => {
  const { sent } = await send({ ...responses, body: { messages: [user(text('a', mark())), user(text('b'))] } })
  const marked = { type: 'input_text', text: 'a', prompt_cache_breakpoint: { mode: 'explicit' } }
  assert.equal((sent.input as JsonObject[])[0]?.content, [marked])
})
