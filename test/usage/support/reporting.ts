import { eventFrame } from '../../formats/support/event-stream.ts'
import { fakeUpstream, getBody, json, sse } from '../../pipeline/support/upstream.ts'
import { openWorld, type World } from '../../pipeline/support/world.ts'

/** Token counts as a provider reports them. */
export interface Counts {
  input: number
  output: number
}

export const PRICE = { input: 1, output: 10 }

/** About 200 tokens. */
export const SAID = 'The quick brown fox jumps over the lazy dog. '.repeat(20)

export const catalog = {
  chat: { baseUrl: 'http://chat.test/v1', models: [{ id: 'm', price: PRICE }] },
  open: {
    baseUrl: 'http://open.test/v1',
    format: 'openai-responses',
    models: [{ id: 'm', price: PRICE }],
  },
  claude: {
    baseUrl: 'http://claude.test/v1',
    format: 'anthropic-messages',
    models: [{ id: 'm', price: PRICE }],
  },
  google: { baseUrl: 'http://google.test/v1', format: 'gemini', models: [{ id: 'm', price: PRICE }] },
  bedrock: { cloud: 'bedrock', format: 'bedrock-converse', models: [{ id: 'm', price: PRICE }] },
} as const

export type ProviderName = keyof typeof catalog

export const event = (data: { type: string; [name: string]: unknown }) => `event: ${data.type}\n${getData(data)}`

export const getData = (value: object) => `data: ${JSON.stringify(value)}\n\n`

/** A provider's responses in one format. `usage` converts counts to the usage object that the format reports. */
interface Speaking {
  usage(counts: Counts): object
  whole(usage: object | undefined, text?: string): Response
  /** Streams these usage reports, one per event. */
  stream(reports: readonly object[], text?: string): Response
  /** Returns the ways that a stream can fail. Each reports this usage. */
  failures(usage: object): readonly string[]
  /** Creates a stream with this text that fails in this way. */
  failing(end: string, text: string): Response
}

const words = (text: string) => (text === '' ? [] : text.split(/(?<= )/))
const FAILED = { type: 'api_error', message: 'The model broke.' }
const ERROR = { code: 'server_error', message: 'The model broke.' }

const chunk = (choices: unknown[], extra: object = {}) =>
  getData({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices, ...extra })
const delta = (content: object, finish_reason: string | null = null) =>
  chunk([{ index: 0, delta: content, finish_reason }])

const chat: Speaking = {
  usage: ({ input, output }) => ({ prompt_tokens: input, completion_tokens: output, total_tokens: input + output }),
  whole: (usage, text = SAID) =>
    json({
      ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm', usage },
      choices: [{ index: 0, text, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
    }),
  stream: (reports, text = SAID) =>
    sse([
      delta({ role: 'assistant', content: '' }),
      ...words(text).map((content) => delta({ content })),
      delta({}, 'stop'),
      ...reports.map((usage) => chunk([], { usage })),
      'data: [DONE]\n\n',
    ]),
  failures: (usage) => [
    getData({ error: ERROR, usage }),
    chunk([], { usage }) + getData({ error: ERROR }),
    `event: error\n${getData({ error: ERROR, usage })}`,
    chunk([{ index: 0, delta: {}, finish_reason: 'error', error: ERROR }], { usage }),
  ],
  failing: (end, text) => sse([...words(text).map((content) => delta({ content })), end]),
}

const completions: Speaking = {
  ...chat,
  whole: (usage, text = SAID) =>
    json({ id: 'c', object: 'text_completion', choices: [{ index: 0, text, finish_reason: 'stop' }], usage }),
  stream: (reports, text = SAID) =>
    sse([
      ...words(text).map((word) => chunk([{ index: 0, text: word, finish_reason: null }])),
      chunk([{ index: 0, text: '', finish_reason: 'stop' }]),
      ...reports.map((usage) => chunk([], { usage })),
      'data: [DONE]\n\n',
    ]),
}

const message = (text: string) => ({
  ...{ id: 'i', type: 'message', role: 'assistant', status: 'completed' },
  content: text === '' ? [] : [{ type: 'output_text', text, annotations: [] }],
})
const response = (status: string, text: string, extra: object) => ({
  ...{ id: 'r', object: 'response', created_at: 1, model: 'm', status, error: null },
  output: [message(text)],
  ...extra,
})
const modelOutput = (text: string) => [
  event({ type: 'response.created', response: response('in_progress', '', { output: [] }) }),
  event({ type: 'response.output_item.added', output_index: 0, item: message('') }),
  ...words(text).map((word) =>
    event({ type: 'response.output_text.delta', item_id: 'i', output_index: 0, content_index: 0, delta: word }),
  ),
]

const open: Speaking = {
  usage: ({ input, output }) => ({ input_tokens: input, output_tokens: output, total_tokens: input + output }),
  whole: (usage, text = SAID) => json(response('completed', text, { usage })),
  stream: (reports, text = SAID) =>
    sse([
      ...modelOutput(text),
      ...reports.map((usage, index) =>
        index < reports.length - 1
          ? event({ type: 'response.in_progress', response: response('in_progress', '', { usage, output: [] }) })
          : event({ type: 'response.completed', response: response('completed', text, { usage }) }),
      ),
    ]),
  failures: (usage) => [
    event({ type: 'response.failed', response: response('failed', '', { error: ERROR, usage, output: [] }) }),
    event({ type: 'error', ...ERROR, usage }),
    event({ type: 'error', ...ERROR }) +
      event({ type: 'response.failed', response: response('failed', '', { error: ERROR, usage, output: [] }) }),
    event({ type: 'response.cancelled', response: response('cancelled', '', { usage, output: [] }) }),
  ],
  failing: (end, text) => sse([...modelOutput(text), end]),
}

const begin = (usage: object, text: string) => [
  event({
    type: 'message_start',
    message: { id: 'm1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, usage },
  }),
  event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
  ...words(text).map((word) =>
    event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: word } }),
  ),
  event({ type: 'content_block_stop', index: 0 }),
]

const claude: Speaking = {
  usage: ({ input, output }) => ({ input_tokens: input, output_tokens: output }),
  whole: (usage, text = SAID) =>
    json({
      ...{ id: 'm1', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn', stop_sequence: null },
      content: text === '' ? [] : [{ type: 'text', text }],
      usage,
    }),
  stream([first = {}, ...others], text = SAID) {
    const reports = others.length > 0 ? others : [first]
    return sse([
      ...begin(first, text),
      ...reports.map((usage, index) =>
        event({
          type: 'message_delta',
          delta: { stop_reason: index === reports.length - 1 ? 'end_turn' : null, stop_sequence: null },
          usage,
        }),
      ),
      event({ type: 'message_stop' }),
    ])
  },
  failures: (usage) => [
    event({ type: 'message_delta', delta: { stop_reason: null }, usage }) + event({ type: 'error', error: FAILED }),
    event({ type: 'error', error: FAILED, usage }),
  ],
  failing: (end, text) => sse([...begin({ input_tokens: 7, output_tokens: 1 }, text), end]),
}

const part = (text: string, extra: object = {}) => ({
  candidates: [{ index: 0, content: { role: 'model', parts: text === '' ? [] : [{ text }] }, ...extra }],
})

const google: Speaking = {
  usage: ({ input, output }) => ({
    ...{ promptTokenCount: input, candidatesTokenCount: output, totalTokenCount: input + output },
  }),
  whole: (usage, text = SAID) => json({ ...part(text, { finishReason: 'STOP' }), usageMetadata: usage }),
  stream: (reports, text = SAID) =>
    sse([
      ...words(text).map((word) => getData(part(word))),
      ...reports.map((usageMetadata, index) =>
        getData({ ...part('', index === reports.length - 1 ? { finishReason: 'STOP' } : {}), usageMetadata }),
      ),
    ]),
  failures: (usageMetadata) => [
    getData({ error: { code: 500, message: 'The model broke.', status: 'INTERNAL' }, usageMetadata }),
    getData({ candidates: [{ index: 0, finishReason: 'MALFORMED_FUNCTION_CALL' }], usageMetadata }),
  ],
  failing: (end, text) => sse([...words(text).map((word) => getData(part(word))), end]),
}

const bedrock: Speaking = {
  usage: ({ input, output }) => ({ inputTokens: input, outputTokens: output, totalTokens: input + output }),
  whole: (usage, text = SAID) =>
    json({
      output: { message: { role: 'assistant', content: text === '' ? [] : [{ text }] } },
      stopReason: 'end_turn',
      usage,
    }),
  stream: (reports, text = SAID) =>
    new Response(
      getBody([
        eventFrame('messageStart', { role: 'assistant' }),
        ...words(text).map((word) => eventFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: word } })),
        eventFrame('contentBlockStop', { contentBlockIndex: 0 }),
        eventFrame('messageStop', { stopReason: 'end_turn' }),
        ...reports.map((usage) => eventFrame('metadata', { usage })),
      ]),
      { headers: { 'content-type': 'application/vnd.amazon.eventstream' } },
    ),
  failures: () => [], // Bedrock's exceptions report no usage
  failing: () => json({}),
}

export const providers: Readonly<Record<ProviderName, Speaking>> = { chat, open, claude, google, bedrock }
export { completions }

const QUESTION = 'How many animals are there in this sentence, and which of them is the faster one?'
const messages = [{ role: 'user', content: QUESTION }]

/** The client requests of each format. */
export const clients: Readonly<
  Record<string, (model: string, stream: boolean) => readonly [path: string, body: object]>
> = {
  chat: (model, stream) => ['/v1/chat/completions', { model, messages, stream, max_tokens: 900 }],
  responses: (model, stream) => ['/v1/responses', { model, input: QUESTION, stream, max_output_tokens: 900 }],
  messages: (model, stream) => ['/v1/messages', { model, messages, stream, max_tokens: 900 }],
  gemini: (model, stream) => [
    `/v1beta/models/${encodeURIComponent(model)}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    { contents: [{ role: 'user', parts: [{ text: QUESTION }] }], generationConfig: { maxOutputTokens: 900 } },
  ],
}

/** Opens a gateway whose providers all respond with `answer`. */
export const openReporting = (respond: () => Response): Promise<World> =>
  openWorld({
    fetch: fakeUpstream(respond),
    catalog,
    connections: [
      ...['chat', 'open', 'claude', 'google'],
      {
        provider: 'bedrock',
        apiKey: 'ABSKQmVkcm9ja0FQSUtleS1leGFtcGxl',
        providerSpecificData: { region: 'eu-west-1' },
      },
    ],
  })

/** Returns a request's usage as the hooks receive it. */
export async function getUsage(respond: () => Response, [path, body]: readonly [path: string, body: object]) {
  const world = await openReporting(respond)
  await (await world.post(path, body)).text()
  const [record] = world.recorded.requests
  const { inputTokens = 0, outputTokens = 0 } = record?.usage ?? {}
  return {
    counts: { input: inputTokens, output: outputTokens } satisfies Counts,
    source: record?.costSource,
    usd: record?.costUsd,
    usage: record?.usage,
  }
}

/** Sends requests with a key limited to one cent until one is rejected, or up to a maximum. Returns the statuses. */
export async function spendACent(
  respond: () => Response,
  [path, body]: readonly [path: string, body: object],
  most = 40,
) {
  const world = await openReporting(respond)
  const { key } = await world.api.keys.create({ name: 'alice', limits: { usd: { day: 0.01 } } })
  const statuses: number[] = []
  while (statuses.length < most && statuses.at(-1) !== 402 && statuses.at(-1) !== 429) {
    const reply = await world.post(path, body, { headers: { authorization: `Bearer ${key}` } })
    await reply.text()
    statuses.push(reply.status)
  }
  return statuses
}
