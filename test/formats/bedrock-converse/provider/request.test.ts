import type { JsonObject } from '../../../../src/lib/json.ts'
import { anthropicTranslator } from '../../../../src/protocols/formats/anthropic-messages/anthropic-translator.ts'
import { converseTranslator } from '../../../../src/protocols/formats/bedrock-converse/converse-translator.ts'
import { prepareRequest } from '../../../../src/protocols/formats/canonical/prepare/prepare.ts'
import { getTraits } from '../../../../src/protocols/providers/provider-traits.ts'
import { assert, suite } from '../../../support/suite.ts'
import { contexts } from '../../support/contexts.ts'

const test = suite('Converse requests')

const CLAUDE = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'
const NEW_CLAUDE = 'anthropic.claude-opus-4-7'
const NOVA = 'us.amazon.nova-2-lite-v1:0'
const OSS = 'openai.gpt-oss-120b-1:0'
const QWEN = 'qwen.qwen3-32b-v1:0'
const LLAMA = 'meta.llama3-3-70b-instruct-v1:0'

/** Returns a Messages client's request as sent to a model on Bedrock. */
function writeRequest(model: string, request: JsonObject) {
  const { warnings } = contexts(anthropicTranslator)
  const target = { provider: 'bedrock', model, format: 'bedrock-converse' } as const
  const traits = getTraits(converseTranslator.traits, target, {})
  const context = { model, traits, origin: { format: target.format, account: 'a' }, warnings }
  const parsed = anthropicTranslator.parseRequest(
    { model: 'x', max_tokens: 2_000, messages: [hello], ...request },
    { warnings },
  )
  const { request: prepared } = prepareRequest(parsed, {
    ...context,
    supportedOptions: converseTranslator.supportedOptions,
  })
  const { path, body } = converseTranslator.writeRequest(prepared, context)
  return { path, body, warnings: warnings.list() }
}

const hello = { role: 'user', content: 'Hi' }
const output = [{ role: 'user', content: [{ text: 'Hi' }] }]

test('the request path contains the model and the operation', () => {
  assert.is(writeRequest(CLAUDE, {}).path, '/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse')
  const arn = 'arn:aws:bedrock:us-east-1:1:inference-profile/us.amazon.nova-pro-v1:0'
  assert.is(writeRequest(arn, { stream: true }).path, `/model/${encodeURIComponent(arn)}/converse-stream`)
})

const tools = [
  { name: 'f', description: 'does', input_schema: { type: 'object', properties: { a: { type: 'string' } } } },
]
const spec = { toolSpec: { name: 'f', description: 'does', inputSchema: { json: tools[0]?.input_schema } } }
const limit = { maxTokens: 2_000 }

/** A Messages client's requests, and the resulting Converse requests. */
const cases: Record<string, [model: string, request: JsonObject, body: JsonObject, warnings?: string[]]> = {
  'sampling options and stop sequences': [
    NOVA,
    { temperature: 0.5, top_p: 0.9, top_k: 5, stop_sequences: ['END', ' '] },
    {
      messages: output,
      inferenceConfig: { ...limit, temperature: 0.5, topP: 0.9, stopSequences: ['END'] },
      additionalModelRequestFields: { inferenceConfig: { topK: 5 } },
    },
    ['dropped:stop_sequences'],
  ],
  'a stop sequence, which Claude is asked to report': [
    CLAUDE,
    { stop_sequences: ['END'], top_k: 5 },
    {
      messages: output,
      inferenceConfig: { ...limit, stopSequences: ['END'] },
      additionalModelRequestFields: { top_k: 5 },
      additionalModelResponseFieldPaths: ['/stop_sequence'],
    },
  ],
  'an option that the model does not support': [
    LLAMA,
    { top_k: 5 },
    { messages: output, inferenceConfig: limit },
    ['dropped:top_k'],
  ],
  'instructions and cache points': [
    CLAUDE,
    { system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' } }] },
    {
      system: [{ text: 'Be brief.' }, { cachePoint: { type: 'default', ttl: '1h' } }],
      messages: output,
      inferenceConfig: limit,
    },
  ],
  'cache points that the model does not support': [
    LLAMA,
    { system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }] },
    { system: [{ text: 'Be brief.' }], messages: output, inferenceConfig: limit },
    ['dropped:system[0].cache_control'],
  ],
  'a thinking budget': [
    CLAUDE,
    { thinking: { type: 'enabled', budget_tokens: 1_024 }, temperature: 1 },
    {
      messages: output,
      inferenceConfig: limit,
      additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 1_024 } },
    },
  ],
  'an effort for a model with adaptive reasoning': [
    NEW_CLAUDE,
    { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
    {
      messages: output,
      inferenceConfig: limit,
      additionalModelRequestFields: { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
    },
  ],
  'visible reasoning': [
    NEW_CLAUDE,
    { thinking: { type: 'adaptive', display: 'summarized' } },
    {
      messages: output,
      inferenceConfig: limit,
      additionalModelRequestFields: { thinking: { type: 'adaptive', display: 'summarized' } },
    },
  ],
  "a model whose reasoning can't be hidden": [
    'anthropic.claude-sonnet-5-5',
    { thinking: { type: 'disabled' } },
    {
      messages: output,
      inferenceConfig: limit,
      additionalModelRequestFields: { thinking: { type: 'between_tools' } },
    },
  ],
  'an effort for Nova, which drops the output limit': [
    NOVA,
    { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
    {
      messages: output,
      additionalModelRequestFields: { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'high' } },
    },
    ['dropped:max_tokens'],
  ],
  'an effort for an open-weight model': [
    OSS,
    { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } },
    { messages: output, inferenceConfig: limit, additionalModelRequestFields: { reasoning_effort: 'low' } },
  ],
  'an effort for Qwen': [
    QWEN,
    { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
    { messages: output, inferenceConfig: limit, additionalModelRequestFields: { reasoning_config: 'high' } },
  ],
  'reasoning for a model without reasoning support': [
    LLAMA,
    { thinking: { type: 'enabled', budget_tokens: 1_024 } },
    { messages: output, inferenceConfig: limit },
    ['dropped:thinking'],
  ],
  'a required tool': [
    CLAUDE,
    { tools, tool_choice: { type: 'tool', name: 'f' } },
    {
      messages: output,
      inferenceConfig: limit,
      toolConfig: { tools: [spec], toolChoice: { tool: { name: 'f' } } },
    },
  ],
  'a tool choice that the model does not support': [
    LLAMA,
    { tools, tool_choice: { type: 'any' } },
    { messages: output, inferenceConfig: limit, toolConfig: { tools: [spec] } },
    ['replaced:tool_choice'],
  ],
}

for (const [name, [model, request, body, warnings = []]] of Object.entries(cases)) {
  test(`a Messages request becomes a Converse request: ${name}`, () => {
    const result = writeRequest(model, request)
    assert.equal(result.body, body)
    assert.equal(result.warnings, warnings)
  })
}

test("tool results follow their calls in the same turn, before content that results can't contain", () => {
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
  assert.equal(writeRequest(CLAUDE, { tools, messages }).body.messages, [
    ...output,
    { role: 'assistant', content: [{ toolUse: { toolUseId: 'a', name: 'f', input: { a: 1 } } }] },
    {
      role: 'user',
      content: [
        { toolResult: { toolUseId: 'a', content: [{ text: 'no' }, picture], status: 'error' } },
        { text: 'And?' },
      ],
    },
  ])
  const apart = JSON.stringify(writeRequest(LLAMA, { messages }).body)
  assert.match(apart, /"content":\[\{"text":"no"\},\{"text":"\[image: see/)
  assert.match(apart, /"tools":\[\{"toolSpec":\{"name":"f"/)
})

test('documents get unique names and an additional text block', () => {
  const pdf = {
    type: 'document',
    title: 'a/b.pdf',
    source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
  }
  const { body } = writeRequest(CLAUDE, { messages: [{ role: 'user', content: [pdf, pdf] }] })
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

test("content that Converse doesn't support is rejected with its path", () => {
  const image = { type: 'image', source: { type: 'url', url: 'https://x.test/a.png' } }
  assert.throws(
    () => writeRequest(CLAUDE, { messages: [{ role: 'user', content: [image] }] }),
    /"messages\[0\].content\[0\]"/,
  )
})
