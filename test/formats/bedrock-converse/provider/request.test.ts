import { messagesTranslator } from '../../../../src/formats/anthropic-messages/translator.ts'
import { converseTranslator } from '../../../../src/formats/bedrock-converse/translator.ts'
import { prepareRequest } from '../../../../src/formats/canonical/prepare/prepare.ts'
import type { JsonObject } from '../../../../src/lib/json.ts'
import { traitsFor } from '../../../../src/providers/traits.ts'
import { assert, suite } from '../../../support/suite.ts'
import { contexts } from '../../support/contexts.ts'

const test = suite('requests to Converse')

const CLAUDE = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'
const NEW_CLAUDE = 'anthropic.claude-opus-4-7'
const NOVA = 'us.amazon.nova-2-lite-v1:0'
const OSS = 'openai.gpt-oss-120b-1:0'
const QWEN = 'qwen.qwen3-32b-v1:0'
const LLAMA = 'meta.llama3-3-70b-instruct-v1:0'

/** A messages client's request as it goes to a model on Bedrock. */
function written(model: string, request: JsonObject) {
  const { warnings } = contexts(messagesTranslator)
  const target = { provider: 'bedrock', model, format: 'bedrock-converse' } as const
  const traits = traitsFor(converseTranslator.traits, target, {})
  const told = { model, traits, origin: { format: target.format, account: 'a' }, warnings }
  const asked = messagesTranslator.parseRequest(
    { model: 'x', max_tokens: 2_000, messages: [hello], ...request },
    { warnings },
  )
  const { request: prepared } = prepareRequest(asked, { ...told, carries: converseTranslator.carries })
  const { path, body } = converseTranslator.writeRequest(prepared, told)
  return { path, body, warnings: warnings.list() }
}

const hello = { role: 'user', content: 'Hi' }
const told = [{ role: 'user', content: [{ text: 'Hi' }] }]

test('the path of a request names the model and the operation', () => {
  assert.is(written(CLAUDE, {}).path, '/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse')
  const arn = 'arn:aws:bedrock:us-east-1:1:inference-profile/us.amazon.nova-pro-v1:0'
  assert.is(written(arn, { stream: true }).path, `/model/${encodeURIComponent(arn)}/converse-stream`)
})

const tools = [
  { name: 'f', description: 'does', input_schema: { type: 'object', properties: { a: { type: 'string' } } } },
]
const spec = { toolSpec: { name: 'f', description: 'does', inputSchema: { json: tools[0]?.input_schema } } }
const limit = { maxTokens: 2_000 }

/** What a messages client asks of a model, and what Converse is told. */
const cases: Record<string, [model: string, request: JsonObject, body: JsonObject, warnings?: string[]]> = {
  'options in their places': [
    NOVA,
    { temperature: 0.5, top_p: 0.9, top_k: 5, stop_sequences: ['END', ' '] },
    {
      messages: told,
      inferenceConfig: { ...limit, temperature: 0.5, topP: 0.9, stopSequences: ['END'] },
      additionalModelRequestFields: { inferenceConfig: { topK: 5 } },
    },
    ['dropped:stop_sequences'],
  ],
  'the sequence that stopped Claude is asked for': [
    CLAUDE,
    { stop_sequences: ['END'], top_k: 5 },
    {
      messages: told,
      inferenceConfig: { ...limit, stopSequences: ['END'] },
      additionalModelRequestFields: { top_k: 5 },
      additionalModelResponseFieldPaths: ['/stop_sequence'],
    },
  ],
  'an option that a model lacks': [LLAMA, { top_k: 5 }, { messages: told, inferenceConfig: limit }, ['dropped:top_k']],
  'instructions and points of caching': [
    CLAUDE,
    { system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' } }] },
    {
      system: [{ text: 'Be brief.' }, { cachePoint: { type: 'default', ttl: '1h' } }],
      messages: told,
      inferenceConfig: limit,
    },
  ],
  'points of caching that a model does not know': [
    LLAMA,
    { system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }] },
    { system: [{ text: 'Be brief.' }], messages: told, inferenceConfig: limit },
    ['dropped:system[0].cache_control'],
  ],
  'a budget of thoughts': [
    CLAUDE,
    { thinking: { type: 'enabled', budget_tokens: 1_024 }, temperature: 1 },
    {
      messages: told,
      inferenceConfig: limit,
      additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 1_024 } },
    },
  ],
  'an effort of a model that decides itself': [
    NEW_CLAUDE,
    { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
    {
      messages: told,
      inferenceConfig: limit,
      additionalModelRequestFields: { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
    },
  ],
  'thoughts that a client wants to see': [
    NEW_CLAUDE,
    { thinking: { type: 'adaptive', display: 'summarized' } },
    {
      messages: told,
      inferenceConfig: limit,
      additionalModelRequestFields: { thinking: { type: 'adaptive', display: 'summarized' } },
    },
  ],
  'no thoughts of a model that cannot be kept from all': [
    'anthropic.claude-sonnet-5-5',
    { thinking: { type: 'disabled' } },
    {
      messages: told,
      inferenceConfig: limit,
      additionalModelRequestFields: { thinking: { type: 'between_tools' } },
    },
  ],
  'an effort of Nova, which excludes a limit': [
    NOVA,
    { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
    {
      messages: told,
      additionalModelRequestFields: { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'high' } },
    },
    ['dropped:max_tokens'],
  ],
  'an effort of open weights': [
    OSS,
    { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } },
    { messages: told, inferenceConfig: limit, additionalModelRequestFields: { reasoning_effort: 'low' } },
  ],
  'an effort of Qwen': [
    QWEN,
    { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
    { messages: told, inferenceConfig: limit, additionalModelRequestFields: { reasoning_config: 'high' } },
  ],
  'thoughts of a model that has none': [
    LLAMA,
    { thinking: { type: 'enabled', budget_tokens: 1_024 } },
    { messages: told, inferenceConfig: limit },
    ['dropped:thinking'],
  ],
  'a tool that has to be called': [
    CLAUDE,
    { tools, tool_choice: { type: 'tool', name: 'f' } },
    {
      messages: told,
      inferenceConfig: limit,
      toolConfig: { tools: [spec], toolChoice: { tool: { name: 'f' } } },
    },
  ],
  'a choice among tools that a model does not know': [
    LLAMA,
    { tools, tool_choice: { type: 'any' } },
    { messages: told, inferenceConfig: limit, toolConfig: { tools: [spec] } },
    ['replaced:tool_choice'],
  ],
}

for (const [name, [model, request, body, warnings = []]] of Object.entries(cases)) {
  test(`${name}`, () => {
    const result = written(model, request)
    assert.equal(result.body, body)
    assert.equal(result.warnings, warnings)
  })
}

test('tool results follow their calls in one turn, before the inputs that they cannot hold', () => {
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } }
  const messages = [
    hello,
    { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: { a: 1 } }] },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'a', is_error: true, content: [{ type: 'text', text: 'no' }, image] },
        { type: 'text', text: 'And?' },
      ],
    },
  ]
  const picture = { image: { format: 'png', source: { bytes: 'iVBORw0KGgo=' } } }
  assert.equal(written(CLAUDE, { tools, messages }).body.messages, [
    ...told,
    { role: 'assistant', content: [{ toolUse: { toolUseId: 'a', name: 'f', input: { a: 1 } } }] },
    {
      role: 'user',
      content: [
        { toolResult: { toolUseId: 'a', content: [{ text: 'no' }, picture], status: 'error' } },
        { text: 'And?' },
      ],
    },
  ])
  const apart = JSON.stringify(written(LLAMA, { messages }).body)
  assert.match(apart, /"content":\[\{"text":"no"\},\{"text":"\[image: see/)
  assert.match(apart, /"tools":\[\{"toolSpec":\{"name":"f"/)
})

test('documents have unique names and text beside them', () => {
  const pdf = {
    type: 'document',
    title: 'a/b.pdf',
    source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
  }
  const { body } = written(CLAUDE, { messages: [{ role: 'user', content: [pdf, pdf] }] })
  const document = { format: 'pdf', source: { bytes: 'JVBERi0=' } }
  assert.equal(body.messages, [
    {
      role: 'user',
      content: [
        { document: { ...document, name: 'a b' } },
        { document: { ...document, name: 'a b 2' } },
        { text: '(see the document)' },
      ],
    },
  ])
})

test('an input that Converse cannot read is refused by its path', () => {
  const image = { type: 'image', source: { type: 'url', url: 'https://x.test/a.png' } }
  assert.throws(
    () => written(CLAUDE, { messages: [{ role: 'user', content: [image] }] }),
    /"messages\[0\].content\[0\]"/,
  )
})
