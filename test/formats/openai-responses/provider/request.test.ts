import type { Tool } from '../../../../src/protocols/formats/canonical/canonical-tools.ts'
import type { Turn } from '../../../../src/protocols/formats/canonical/canonical-turns.ts'
import { responsesTranslator } from '../../../../src/protocols/formats/openai-responses/responses-translator.ts'
import { assert, suite } from '../../../support/suite.ts'
import { write } from '../support/write-request.ts'

const test = suite('writing a Responses request')

const getItems = (...turns: Turn[]) => write({ turns }).body.input
const text = (value: string) => ({ type: 'text', text: value }) as const

const message = (role: string, content: unknown) => ({ type: 'message', role, content })

test('a request goes to /responses, disables storage, and includes encrypted reasoning', () => {
  assert.equal(write({ turns: [{ role: 'user', content: [text('hi')] }] }), {
    path: '/responses',
    headers: {},
    body: {
      model: 'm',
      input: [message('user', 'hi')],
      include: ['reasoning.encrypted_content'],
      store: false,
    },
    warnings: [],
  })
  assert.is(write({ stream: true }).body.stream, true)
})

test("a request to a model without reasoning doesn't request encrypted reasoning", () => {
  const { reasoning } = responsesTranslator.traits
  const traits = { reasoning: { ...reasoning, control: 'none' } }
  assert.is(write({}, { traits }).body.include, undefined)
  assert.equal(write({ options: { logprobs: 2 } }, { traits }).body.include, ['message.output_text.logprobs'])
})

test("a request to OpenAI includes search sources, but a request to a compatible vendor doesn't", () => {
  const tools: Tool[] = [{ type: 'web-search' }]
  assert.match(`${write({ tools }).body.include}`, 'web_search_call.action.sources')
  assert.not.match(`${write({ tools }, { traits: { ownTools: false } }).body.include}`, 'web_search')
})

test('instructions stay in the input for JSON output, because the input must mention JSON', () => {
  const turns: Turn[] = [
    { role: 'system', sentAs: 'instructions', content: [text('in JSON')] },
    { role: 'user', content: [text('u')] },
  ]
  const { instructions, input } = write({ turns, output: { type: 'json' } }).body
  assert.equal([instructions, input], [undefined, [message('developer', 'in JSON'), message('user', 'u')]])
})

test('instructions return to their field unless they have cache breakpoints', () => {
  const system = (value: string, cache?: object): Turn => ({
    role: 'system',
    sentAs: 'instructions',
    content: [{ ...text(value), ...(cache && { cache }) }],
  })
  const user: Turn = { role: 'user', content: [text('u')] }
  const { instructions, input } = write({ turns: [system('a'), system('b'), user] }).body
  assert.is(instructions, 'a\n\nb')
  assert.equal(input, [message('user', 'u')])
  const marked = write({ turns: [system('a', { ttl: '12h' }), user] }).body
  assert.is(marked.instructions, undefined)
  assert.equal(marked.input, [
    message('developer', [
      { type: 'input_text', text: 'a', prompt_cache_breakpoint: { mode: 'explicit', ttl: '12h' } },
    ]),
    message('user', 'u'),
  ])
})

test('system and developer messages keep their roles and positions', () => {
  assert.equal(
    getItems(
      { role: 'system', sentAs: 'developer', content: [text('d')] },
      { role: 'user', content: [text('u')] },
      { role: 'system', sentAs: 'system', content: [text('s')] },
    ),
    [message('developer', 'd'), message('user', 'u'), message('system', 's')],
  )
})

test('a function in a Responses request always sets `strict`', () => {
  const tools = [{ type: 'function', name: 'f' } as const]
  const wire = { type: 'function', name: 'f', parameters: { type: 'object', properties: {} } }
  assert.equal(write({ tools }).body.tools, [{ ...wire, strict: false }])
  assert.equal(write({ tools: [{ type: 'function', name: 'f', strict: true }] }).body.tools, [
    { ...wire, strict: true },
  ])
  assert.equal(write({ tools }, { traits: { strictTools: false } }).body.tools, [{ ...wire, strict: false }])
})

test('a Responses request supports free-form tools, web search, and tool choices', () => {
  const grammar = { syntax: 'lark', definition: 'start: "a"' } as const
  const location = { city: 'Bern' }
  const { tools, tool_choice } = write({
    tools: [
      { type: 'free-form', name: 'c', grammar },
      { type: 'web-search', contextSize: 'low', location, allowedDomains: ['a.example'] },
    ],
    toolChoice: { type: 'allowed', mode: 'auto', names: ['c', 'f'] },
  }).body
  assert.equal(tools, [
    { type: 'custom', name: 'c', format: { type: 'grammar', ...grammar } },
    {
      type: 'web_search',
      search_context_size: 'low',
      user_location: { type: 'approximate', city: 'Bern' },
      filters: { allowed_domains: ['a.example'] },
    },
  ])
  const named = [
    { type: 'custom', name: 'c' },
    { type: 'function', name: 'f' },
  ]
  assert.equal(tool_choice, { type: 'allowed_tools', mode: 'auto', tools: named })
  const blocked: Tool[] = [{ type: 'web-search', blockedDomains: ['a'] }]
  assert.equal(write({ tools: blocked }).body.tools, [{ type: 'web_search', filters: { blocked_domains: ['a'] } }])
  assert.throws(
    () => write({ tools: blocked }, { traits: { ownTools: false } }),
    /cannot exclude domains from a search/,
  )
})

test('a Responses request supports options, output formats, and reasoning', () => {
  const schema = { type: 'object' }
  const { body, warnings } = write({
    output: { type: 'json-schema', schema },
    options: {
      maxOutputTokens: 100,
      temperature: 1,
      topP: 0.5,
      parallelToolCalls: false,
      reasoning: { effort: 'high', budget: 16_384, show: 'summary' },
      verbosity: 'low',
      endUser: 'u'.repeat(200),
      labels: { a: 'b' },
      serviceTier: 'flex',
      cacheKey: 'k',
      cacheOptions: { mode: 'explicit', auto: {} },
      logprobs: 0,
      store: true,
    },
  })
  const { safety_identifier, ...rest } = body
  assert.is(String(safety_identifier).length, 128)
  assert.equal(rest, {
    model: 'm',
    input: [message('user', '')],
    text: { format: { type: 'json_schema', name: 'answer', schema }, verbosity: 'low' },
    max_output_tokens: 100,
    temperature: 1,
    top_p: 0.5,
    parallel_tool_calls: false,
    reasoning: { effort: 'high', summary: 'auto' },
    metadata: { a: 'b' },
    service_tier: 'flex',
    prompt_cache_key: 'k',
    prompt_cache_options: { mode: 'explicit' },
    include: ['reasoning.encrypted_content', 'message.output_text.logprobs'],
    store: false,
  })
  assert.equal(warnings, ['dropped:cache_control', 'dropped:store'])
  assert.is(write({ options: { reasoning: { show: 'none' } } }).body.reasoning, undefined)
})

test("a message's participant name is dropped with a warning", () => {
  assert.equal(write({ turns: [{ role: 'user', content: [text('u')], name: 'bob' }] }).warnings, [
    'dropped:messages.name',
  ])
})
