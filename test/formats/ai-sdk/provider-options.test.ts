import * as ai7 from 'ai'
import type { JsonObject } from '../../../src/lib/json.ts'
import type { WireFormat } from '../../../src/types.ts'
import { outputBy } from '../../pipeline/support/sdk/gateway.ts'
import { fakeUpstream, json } from '../../pipeline/support/upstream.ts'
import { openWorld } from '../../pipeline/support/world.ts'
import { assert, suite } from '../../support/suite.ts'

Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false })

const test = suite('AI SDK provider options')

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const PDF = btoa('%PDF-1.4')

type Sent = Omit<Parameters<typeof ai7.generateText>[0], 'model' | 'prompt' | 'messages'> & {
  content?: ai7.UserContent
}

const targets: Readonly<Record<WireFormat, [provider: string, model: string]>> = {
  'openai-chat': ['openai', 'gpt-5.6'],
  'openai-responses': ['openai', 'gpt-5.6'],
  'anthropic-messages': ['anthropic', 'claude-sonnet-4-5'],
  gemini: ['google', 'gemini-3-pro-preview'],
}

/** Returns the body that a provider of a format receives for a call, and the features named in warnings. */
async function send(format: WireFormat, { content = 'Hi', ...call }: Sent, other?: string) {
  const [provider, usual] = targets[format]
  const model = other ?? usual
  const upstream = fakeUpstream(() => json(outputBy(format).response.whole))
  const { gateway } = await openWorld({
    fetch: upstream,
    catalog: { [provider]: { baseUrl: 'http://one.test/v1', format, models: [{ id: model }] } },
    connections: [provider],
  })
  const models = ai7.createGateway({ apiKey: 'x', baseURL: 'http://gateway/v4/ai', fetch: gateway.fetch })
  const callOptions = {
    ...call,
    model: models(`${provider}/${model}`),
    maxRetries: 0,
    messages: [{ role: 'user', content }],
  } as Parameters<typeof ai7.generateText>[0] // one of its two forms
  const warned: string[] = []
  const answered = await ai7.generateText(callOptions).catch((error: unknown) => error)
  if (upstream.calls.length === 0) throw answered
  const { warnings = [] } = Object(answered)
  for (const warning of warnings) warned.push('feature' in warning ? warning.feature : '')
  const beta = upstream.calls[0]?.headers.get('anthropic-beta')
  const body: JsonObject = { ...JSON.parse(upstream.calls[0]?.body ?? '{}'), ...(beta && { beta }) }
  return { body, warned }
}

/** Returns whether `found` contains everything in `expected`. */
function has(found: unknown, expected: unknown): boolean {
  if (typeof expected !== 'object' || expected === null) return Object.is(found, expected)
  if (typeof found !== 'object' || found === null) return false
  const members = new Map(Object.entries(found))
  return Object.entries(expected).every(([name, value]) => has(members.get(name), value))
}

const pdf = (providerOptions: ai7.ProviderMetadata): ai7.UserContent => [
  { type: 'file', mediaType: 'application/pdf', data: PDF, filename: 'a.pdf', providerOptions },
]
const png = (providerOptions: ai7.ProviderMetadata): ai7.UserContent => [
  { type: 'file', mediaType: 'image/png', data: PNG, providerOptions },
]
const weather = ai7.tool({
  inputSchema: ai7.jsonSchema({ type: 'object', properties: {} }),
  execute: async () => 'warm',
})
const exemplary: ai7.Tool = { ...weather, inputExamples: [{ input: { city: 'Paris' } }] } as ai7.Tool // the type of its input doesn't matter here
const closed = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } as const

/** Options of a call, with the body that the provider receives. */
const cases: [name: string, format: WireFormat, call: Sent, sent: JsonObject, model?: string][] = [
  [
    'an image detail level',
    'openai-responses',
    { content: png({ openai: { imageDetail: 'low' } }) },
    { input: [{ content: [{ type: 'input_image', detail: 'low' }] }] },
  ],
  [
    'an image detail level, in Chat Completions',
    'openai-chat',
    { content: png({ openai: { imageDetail: 'low' } }) },
    { messages: [{ content: [{ type: 'image_url', image_url: { detail: 'low' } }] }] },
  ],
  [
    'a citable document with its title and context',
    'anthropic-messages',
    { content: pdf({ anthropic: { citations: { enabled: true }, title: 'The report', context: 'Of 2026.' } }) },
    {
      messages: [
        { content: [{ type: 'document', title: 'The report', context: 'Of 2026.', citations: { enabled: true } }] },
      ],
    },
  ],
  [
    "a video's start, end, and frame rate",
    'gemini',
    {
      content: [
        {
          type: 'file',
          mediaType: 'video/mp4',
          data: 'AAAA',
          providerOptions: { google: { videoMetadata: { fps: 2, startOffset: '1s', endOffset: '3s' } } },
        },
      ],
    },
    { contents: [{ parts: [{ videoMetadata: { fps: 2, startOffset: '1s', endOffset: '3s' } }] }] },
  ],
  [
    'a cache breakpoint',
    'openai-responses',
    {
      content: [
        { type: 'text', text: 'Hi', providerOptions: { openai: { promptCacheBreakpoint: { mode: 'explicit' } } } },
      ],
    },
    { input: [{ content: [{ prompt_cache_breakpoint: { mode: 'explicit' } }] }] },
  ],
  [
    'a top-level cache breakpoint, the user, and the tier',
    'anthropic-messages',
    {
      providerOptions: {
        anthropic: {
          cacheControl: { type: 'ephemeral', ttl: '1h' },
          metadata: { userId: 'me' },
          serviceTier: 'standard_only',
        },
      },
    },
    { cache_control: { ttl: '1h' }, metadata: { user_id: 'me' }, service_tier: 'standard_only' },
  ],
  [
    'a reasoning budget on top of the output limit',
    'anthropic-messages',
    { maxOutputTokens: 1_000, providerOptions: { anthropic: { thinking: { type: 'enabled', budgetTokens: 4_000 } } } },
    { max_tokens: 5_000, thinking: { type: 'enabled', budget_tokens: 4_000 } },
  ],
  [
    'a cache and a tier',
    'openai-chat',
    {
      providerOptions: {
        openai: {
          promptCacheOptions: { mode: 'explicit' },
          serviceTier: 'fast',
        },
      },
    },
    { prompt_cache_options: { mode: 'explicit' }, service_tier: 'fast' },
  ],
  [
    'a prediction',
    'openai-chat',
    { providerOptions: { openai: { prediction: { type: 'content', content: 'Hi there' } } } },
    { prediction: { content: 'Hi there' } },
    'gpt-4.1',
  ],
  [
    'Responses-only options, and an unstored conversation',
    'openai-responses',
    {
      providerOptions: {
        openai: {
          instructions: 'Be kind.',
          truncation: 'auto',
          maxToolCalls: 3,
          store: false,
          include: ['reasoning.encrypted_content'],
        },
      },
    },
    { instructions: 'Be kind.', truncation: 'auto', max_tool_calls: 3, store: false },
  ],
  [
    'a reasoning summary with an effort',
    'openai-responses',
    { reasoning: 'high' },
    { reasoning: { effort: 'high', summary: 'detailed' } },
  ],
  [
    'a short summary if requested',
    'openai-responses',
    { reasoning: 'high', providerOptions: { openai: { reasoningSummary: 'auto' } } },
    { reasoning: { effort: 'high', summary: 'auto' } },
  ],
  [
    'Google-only options',
    'gemini',
    {
      temperature: 0.5,
      providerOptions: {
        google: {
          threshold: 'BLOCK_NONE',
          serviceTier: 'flex',
          mediaResolution: 'MEDIA_RESOLUTION_LOW',
          imageConfig: { aspectRatio: '16:9' },
          retrievalConfig: { latLng: { latitude: 1, longitude: 2 } },
        },
      },
    },
    {
      safetySettings: [{}, {}, {}, { category: 'HARM_CATEGORY_SEXUALLY_EXPLICIT', threshold: 'BLOCK_NONE' }],
      serviceTier: 'flex',
      generationConfig: {
        temperature: 0.5,
        mediaResolution: 'MEDIA_RESOLUTION_LOW',
        imageConfig: { aspectRatio: '16:9' },
      },
      toolConfig: { retrievalConfig: { latLng: { latitude: 1, longitude: 2 } } },
    },
  ],
  [
    'strict JSON output',
    'openai-responses',
    { output: ai7.Output.object({ schema: ai7.jsonSchema({ ...closed, additionalProperties: false }) }) },
    { text: { format: { type: 'json_schema', strict: true } } },
  ],
  [
    'strict JSON output, in Chat Completions',
    'openai-chat',
    { output: ai7.Output.array({ element: ai7.jsonSchema({ ...closed, additionalProperties: false }) }) },
    { response_format: { type: 'json_schema', json_schema: { strict: true } } },
  ],
  [
    'visible reasoning if an effort is set',
    'anthropic-messages',
    { reasoning: 'high' },
    { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'high' } },
    'claude-opus-4-7',
  ],
  [
    'Anthropic-only options, with their betas',
    'anthropic-messages',
    {
      tools: { weather: exemplary },
      providerOptions: {
        anthropic: {
          contextManagement: {
            edits: [{ type: 'clear_tool_uses_20250919', keep: { type: 'tool_uses', value: 2 }, clearToolInputs: true }],
          },
          inferenceGeo: 'us',
          taskBudget: { type: 'tokens', total: 400_000 },
        },
      },
    },
    {
      beta: 'advanced-tool-use-2025-11-20,context-management-2025-06-27,task-budgets-2026-03-13',
      context_management: {
        edits: [{ type: 'clear_tool_uses_20250919', keep: { type: 'tool_uses', value: 2 }, clear_tool_inputs: true }],
      },
      inference_geo: 'us',
      output_config: { task_budget: { type: 'tokens', total: 400_000 } },
      tools: [{ name: 'weather', input_examples: [{ city: 'Paris' }] }],
    },
  ],
  [
    'reasoning options, and domains to exclude from a search',
    'openai-responses',
    {
      tools: { find: provided('openai.web_search', { filters: { blockedDomains: ['a.test'] } }) },
      reasoning: 'low',
      providerOptions: { openai: { reasoningMode: 'pro', reasoningContext: 'all_turns' } },
    },
    {
      reasoning: { effort: 'low', mode: 'pro', context: 'all_turns' },
      tools: [{ type: 'web_search', filters: { blocked_domains: ['a.test'] } }],
    },
  ],
  [
    'a forced search',
    'anthropic-messages',
    {
      tools: { find: provided('anthropic.web_search_20250305', { maxUses: 2 }), weather },
      toolChoice: { type: 'tool', toolName: 'find' },
    },
    { tool_choice: { type: 'tool', name: 'web_search' }, tools: [{ name: 'web_search', max_uses: 2 }] },
  ],
]

/** Creates a tool that one of the AI SDK's providers defines, under an arbitrary name. */
function provided(id: `${string}.${string}`, args: Record<string, unknown>): ai7.Tool {
  return { type: 'provider', id, args, isProviderExecuted: false, inputSchema: ai7.jsonSchema({}) } as ai7.Tool // like the AI SDK's own factories
}

for (const [name, format, call, sent, model] of cases)
  test(`${format} gets ${name}`, async () => {
    const { body, warned } = await send(format, call, model)
    assert.ok(has(body, sent), JSON.stringify(body, null, 1))
    assert.equal(warned, [])
  })

test('strict mode is off for schemas that OpenAI would reject, or if the app disables it', async () => {
  const output = (schema: object) => ai7.Output.object({ schema: ai7.jsonSchema(schema) })
  const getStrict = async (call: Sent) => Object(Object((await send('openai-responses', call)).body.text).format).strict
  assert.is(await getStrict({ output: output(closed) }), undefined) // the schema allows additional properties
  const optional = { ...closed, additionalProperties: false, required: [] }
  assert.is(await getStrict({ output: output(optional) }), undefined)
  const looseCities = [
    closed,
    {},
    { type: 'object' },
    { type: ['object', 'null'] },
    { type: 'string', pattern: '^(?!x)' },
    { type: 'string', minLength: 1 },
  ]
  for (const city of looseCities) {
    const deep = { ...closed, additionalProperties: false, properties: { city } }
    assert.is(await getStrict({ output: output(deep) }), undefined, JSON.stringify(city))
  }
  assert.is(await getStrict({ output: output({ anyOf: [{ ...closed, additionalProperties: false }] }) }), undefined)
  const known = { anyOf: [{ type: 'string', format: 'date', pattern: '^2' }, { type: 'null' }] }
  const dated = { ...closed, additionalProperties: false, properties: { city: known } }
  assert.is(await getStrict({ output: output(dated) }), true)
  const full = output({ ...closed, additionalProperties: false })
  const providerOptions = { openai: { strictJsonSchema: false } }
  assert.is(await getStrict({ output: full, providerOptions }), false)
})

test('references to state stored at a provider are rejected', async () => {
  const stored: [format: WireFormat, providerOptions: ai7.ProviderMetadata, name: string][] = [
    ['openai-responses', { openai: { previousResponseId: 'resp_1' } }, 'providerOptions.openai.previousResponseId'],
    ['anthropic-messages', { anthropic: { container: { id: 'c' } } }, 'providerOptions.anthropic.container'],
    ['gemini', { google: { cachedContent: 'cachedContents/1' } }, 'providerOptions.google.cachedContent'],
  ]
  for (const [format, providerOptions, name] of stored) {
    const error = await send(format, { providerOptions }).catch((reason: unknown) => reason)
    assert.match(String(error), name)
  }
})

test("warnings list the options that another vendor doesn't support", async () => {
  const providerOptions = { google: { safetySettings: [] }, openai: { truncation: 'auto' } }
  const { warned } = await send('anthropic-messages', {
    providerOptions,
    content: png({ openai: { imageDetail: 'low' } }),
  })
  assert.equal(warned?.sort(), [
    'prompt[0].content[0].providerOptions.openai.imageDetail',
    'providerOptions.google.safetySettings',
    'providerOptions.openai.truncation',
  ])
})

test('warnings and strict-mode errors about unsupported reasoning name the option that requested it', async () => {
  const requested: [call: Sent, path: string][] = [
    [createOptions({ signalbox: { reasoning: 'low' } }), 'providerOptions.signalbox.reasoning'],
    [
      createOptions({ signalbox: { reasoning: 'low' }, anthropic: { thinking: { type: 'adaptive' } } }),
      'providerOptions.signalbox.reasoning',
    ],
    [createOptions({ openai: { reasoningEffort: 'high' } }), 'providerOptions.openai.reasoningEffort'],
    [createOptions({ anthropic: { effort: 'high' } }), 'providerOptions.anthropic.effort'],
    [createOptions({ google: { thinkingConfig: { thinkingBudget: 5 } } }), 'providerOptions.google.thinkingConfig'],
    [
      createOptions({ anthropic: { thinking: { type: 'enabled', budgetTokens: 5 } } }),
      'providerOptions.anthropic.thinking',
    ],
    [{ reasoning: 'low' }, 'reasoning'],
  ]
  for (const [call, path] of requested) {
    assert.ok((await send('openai-chat', call, 'gpt-4.1')).warned.includes(path), path)
    const headers = { 'x-signalbox-strict': 'true' }
    const error = await send('openai-chat', { ...call, headers }, 'gpt-4.1').catch((reason: unknown) => reason)
    assert.match(String(error), `"${path}": it would be dropped, which strict mode does not allow`)
  }
})

const createOptions = (providerOptions: ai7.ProviderMetadata): Sent => ({ providerOptions })
