/*
 * All metrics as data, for Prometheus, OpenTelemetry, and the docs. `measuring.ts` updates them. Names that start with `gen_ai.` or `http.` come from
 * the OpenTelemetry conventions; all others are ours.
 */

/** A label's OpenTelemetry name. */
export type LabelName = keyof typeof labels

/** A metric's definition. */
export interface Metric {
  readonly name: string
  readonly kind: 'counter' | 'histogram' | 'upDown' | 'gauge'
  /** A UCUM unit, such as `s` or `{token}`. */
  readonly unit: string
  readonly help: string
  readonly labels: readonly LabelName[]
  /** A histogram's upper bounds, ascending. */
  readonly buckets?: readonly number[]
}

/** All labels. Clients can't set any of them to an arbitrary value. */
export const labels = {
  'gen_ai.operation.name':
    'The operation: `chat`, `text_completion`, `embeddings`, `rerank`, `count_tokens`, or others.',
  'gen_ai.provider.name': "The provider's name in the conventions, such as `gcp.gemini`, or else its id.",
  'gen_ai.request.model': "The provider's model, if the gateway knows it, otherwise `_OTHER`.",
  'gen_ai.token.modality': '`image`, `audio`, or `text` if the provider reports it, otherwise `unknown`.',
  'error.type': 'The status of a failed attempt, or a class such as `timeout` or `network`; absent on success.',
  'http.request.method': 'The method.',
  'http.route': "The endpoint's path, with `{model}` in place of the model name.",
  'http.response.status_code': 'The status that the client received; 499 if it disconnected first.',
  'signalbox.model': 'The requested name, if it is a combo, an alias, or a known model, otherwise `_OTHER`.',
  'signalbox.outcome': '`answered`, `cancelled`, `outrun` (lost the hedging race), or the failure class.',
  'signalbox.reason': 'The failure class, or what rejected the request.',
  'signalbox.recovered': '`true` if the client got a response in the end.',
  'signalbox.cost.source': '`reported` by the provider, `counted` from reported tokens, or `estimated`.',
  'signalbox.state': '`ok`, `cooling`, or `draining`.',
  'signalbox.connection': 'The connection id.',
  'signalbox.direction': '`read` or `write`.',
  'signalbox.won': '`true` if the hedge won.',
  'signalbox.format.from': "The client's format.",
  'signalbox.loss': 'What happened to a part of the request: `dropped`, `clamped`, or others.',
  'signalbox.scope': 'The scope of the limit: `group` or `gateway`.',
  'signalbox.group': 'The group id; absent for the gateway.',
  'signalbox.unit': '`requests`, `tokens`, `usd`, or `parallel` (concurrent requests).',
  'signalbox.window': '`minute`, `hour`, `day`, `week`, `month`, or `total`; absent for `parallel`.',
  'signalbox.guard': 'The name of the guard.',
  'signalbox.stage': '`request` or `answer`.',
  'signalbox.verdict':
    '`pass`, `change`, `refuse`, `failed`, or others; begins with `watched-` if the guard only watches.',
  'signalbox.metric': 'The metric with too many label sets.',
  'signalbox.version': 'The package version.',
} as const

/** Buckets for model calls, in seconds. */
const SECONDS_BUCKETS = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 163.84, 327.68,
]
/** Buckets for HTTP requests, in seconds. */
const HTTP_SECONDS_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
/** Buckets for the time to first token, in seconds. */
const FIRST_TOKEN_BUCKETS = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
const TOKEN_BUCKETS = Array.from({ length: 14 }, (_, power) => 4 ** power)
const ATTEMPT_BUCKETS = [1, 2, 3, 4, 6, 10]

const TARGET_LABELS = ['gen_ai.operation.name', 'gen_ai.provider.name', 'gen_ai.request.model'] as const
const FAILED_TARGET_LABELS = [...TARGET_LABELS, 'error.type'] as const
const REQUESTED_MODEL_LABELS = ['gen_ai.operation.name', 'signalbox.model'] as const

const createTokenCounter = (name: string, help: string): Metric => ({
  name: `gen_ai.client.inference.usage.${name}`,
  kind: 'counter',
  unit: '{token}',
  help,
  labels: [...TARGET_LABELS, 'gen_ai.token.modality'],
})

export const measures = {
  inferenceDuration: {
    name: 'gen_ai.client.inference.duration',
    kind: 'histogram',
    unit: 's',
    help: 'Duration of attempts, from start to last byte.',
    labels: FAILED_TARGET_LABELS,
    buckets: SECONDS_BUCKETS,
  },
  embeddingsDuration: {
    name: 'gen_ai.client.embeddings.duration',
    kind: 'histogram',
    unit: 's',
    help: 'Duration of embedding attempts.',
    labels: FAILED_TARGET_LABELS,
    buckets: SECONDS_BUCKETS,
  },
  operationDuration: {
    name: 'gen_ai.client.operation.duration',
    kind: 'histogram',
    unit: 's',
    help: 'Duration of all other attempts.',
    labels: FAILED_TARGET_LABELS,
    buckets: SECONDS_BUCKETS,
  },
  firstChunk: {
    name: 'gen_ai.client.inference.time_to_first_chunk',
    kind: 'histogram',
    unit: 's',
    help: 'Time to first token (TTFT) of an attempt.',
    labels: TARGET_LABELS,
    buckets: SECONDS_BUCKETS,
  },
  inputTokens: createTokenCounter('input_tokens', 'Input tokens, including cached ones.'),
  outputTokens: createTokenCounter('output_tokens', 'Output tokens, including reasoning.'),
  cacheReadTokens: createTokenCounter(
    'cache_read.input_tokens',
    "Input tokens that were read from the provider's cache.",
  ),
  cacheWriteTokens: createTokenCounter(
    'cache_write.input_tokens',
    "Input tokens that were written to the provider's cache.",
  ),
  reasoningTokens: createTokenCounter('reasoning.output_tokens', 'Reasoning tokens.'),
  inputSize: {
    name: 'gen_ai.client.inference.operation.input_tokens',
    kind: 'histogram',
    unit: '{token}',
    help: 'Input tokens of an attempt.',
    labels: FAILED_TARGET_LABELS,
    buckets: TOKEN_BUCKETS,
  },
  outputSize: {
    name: 'gen_ai.client.inference.operation.output_tokens',
    kind: 'histogram',
    unit: '{token}',
    help: 'Output tokens of an attempt.',
    labels: FAILED_TARGET_LABELS,
    buckets: TOKEN_BUCKETS,
  },
  httpDuration: {
    name: 'http.server.request.duration',
    kind: 'histogram',
    unit: 's',
    help: 'Duration of model requests, to the last byte.',
    labels: ['http.request.method', 'http.route', 'http.response.status_code'],
    buckets: HTTP_SECONDS_BUCKETS,
  },
  requestDuration: {
    name: 'gen_ai.server.request.duration',
    kind: 'histogram',
    unit: 's',
    help: 'Duration of model requests by requested name.',
    labels: [...REQUESTED_MODEL_LABELS, 'error.type'],
    buckets: SECONDS_BUCKETS,
  },
  firstToken: {
    name: 'gen_ai.server.time_to_first_token',
    kind: 'histogram',
    unit: 's',
    help: 'Time to first token (TTFT), with failed attempts.',
    labels: REQUESTED_MODEL_LABELS,
    buckets: FIRST_TOKEN_BUCKETS,
  },
  requestAttempts: {
    name: 'signalbox.request.attempts',
    kind: 'histogram',
    unit: '{attempt}',
    help: 'Attempts per request.',
    labels: REQUESTED_MODEL_LABELS,
    buckets: ATTEMPT_BUCKETS,
  },
  attempts: {
    name: 'signalbox.attempts',
    kind: 'counter',
    unit: '{attempt}',
    help: 'Attempts by outcome.',
    labels: ['gen_ai.provider.name', 'gen_ai.request.model', 'signalbox.outcome'],
  },
  fallbacks: {
    name: 'signalbox.fallbacks',
    kind: 'counter',
    unit: '{attempt}',
    help: 'Failed attempts that were followed by another.',
    labels: ['gen_ai.provider.name', 'signalbox.reason', 'signalbox.recovered'],
  },
  hedges: {
    name: 'signalbox.hedges',
    kind: 'counter',
    unit: '{attempt}',
    help: 'Hedges: second attempts that race a slow one.',
    labels: ['signalbox.won'],
  },
  cost: {
    name: 'signalbox.usage.cost_usd',
    kind: 'counter',
    unit: '{USD}',
    help: 'Charges of feature routes, and cost of attempts with a known price, in USD.',
    labels: [...TARGET_LABELS, 'signalbox.cost.source'],
  },
  promptCacheTokens: {
    name: 'signalbox.prompt_cache.tokens',
    kind: 'counter',
    unit: '{token}',
    help: 'Input tokens read from and written to prompt caches.',
    labels: [...TARGET_LABELS, 'signalbox.direction'],
  },
  promptCacheSaved: {
    name: 'signalbox.prompt_cache.saved_usd',
    kind: 'upDown',
    unit: '{USD}',
    help: "USD saved by the gateway's cache breakpoints; may be negative.",
    labels: TARGET_LABELS,
  },
  requestsActive: {
    name: 'signalbox.requests.active',
    kind: 'upDown',
    unit: '{request}',
    help: 'Model requests in flight.',
    labels: ['gen_ai.operation.name'],
  },
  streamsActive: {
    name: 'signalbox.streams.active',
    kind: 'upDown',
    unit: '{request}',
    help: 'Streams in flight.',
    labels: ['gen_ai.operation.name'],
  },
  refused: {
    name: 'signalbox.requests.refused',
    kind: 'counter',
    unit: '{request}',
    help: 'Requests rejected before any provider was called.',
    labels: ['signalbox.reason'],
  },
  guardChecks: {
    name: 'signalbox.guard.checks',
    kind: 'counter',
    unit: '{check}',
    help: 'Requests and responses that a guard checked.',
    labels: ['signalbox.guard', 'signalbox.stage', 'signalbox.verdict'],
  },
  guardDuration: {
    name: 'signalbox.guard.duration',
    kind: 'histogram',
    unit: 's',
    help: 'Time a guard took to check a request or a response.',
    labels: ['signalbox.guard', 'signalbox.stage'],
    buckets: HTTP_SECONDS_BUCKETS,
  },
  guardHeld: {
    name: 'signalbox.guard.held',
    kind: 'histogram',
    unit: 's',
    help: 'Longest time that guards held an event of a stream.',
    labels: ['gen_ai.operation.name'],
    buckets: HTTP_SECONDS_BUCKETS,
  },
  losses: {
    name: 'signalbox.losses',
    kind: 'counter',
    unit: '{loss}',
    help: 'Parts that a translation dropped or changed.',
    labels: ['signalbox.format.from', 'gen_ai.provider.name', 'signalbox.loss'],
  },
  targetState: {
    name: 'signalbox.target.state',
    kind: 'gauge',
    unit: '1',
    help: '1 if a target is in this state, otherwise 0.',
    labels: ['gen_ai.provider.name', 'gen_ai.request.model', 'signalbox.connection', 'signalbox.state'],
  },
  limitUsed: {
    name: 'signalbox.limit.used',
    kind: 'gauge',
    unit: '1',
    help: "Used share of a group's or the gateway's limit, 0 to 1.",
    labels: ['signalbox.scope', 'signalbox.group', 'signalbox.unit', 'signalbox.window'],
  },
  catalogAge: {
    name: 'signalbox.catalog.age',
    kind: 'gauge',
    unit: 's',
    help: "Age of the catalog's newest prices.",
    labels: [],
  },
  overflow: {
    name: 'signalbox.metrics.overflow',
    kind: 'counter',
    unit: '{measurement}',
    help: 'Measurements under `_OTHER`: too many label sets.',
    labels: ['signalbox.metric'],
  },
  build: {
    name: 'signalbox.build_info',
    kind: 'gauge',
    unit: '1',
    help: 'The running version.',
    labels: ['signalbox.version'],
  },
} as const satisfies Record<string, Metric>

/** The label value that stands for all other values. */
export const OTHER_LABEL = '_OTHER'

/** Maximum number of label sets per metric and in total. */
export const MAX_SERIES = { measure: 2_000, all: 20_000 }

/** A metric's label set. Labels that are `undefined` are absent. */
export type LabelSet = Readonly<Partial<Record<LabelName, string>>>

/** A metric with one label set. `add` increments a counter, sets a gauge, or adds a value to a histogram. */
export interface Series {
  add(value: number): void
}

/** Creates the series that measurements are added to. */
export interface Meter {
  /** Returns the series for these labels. Always returns the same series for the same labels. */
  getSeries(measure: Metric, labels: LabelSet): Series
}

/** Provider names in the conventions, by provider ID, if they differ. */
const conventionalNames: Readonly<Record<string, string>> = {
  azure: 'azure.ai.openai',
  bedrock: 'aws.bedrock',
  google: 'gcp.gemini',
  mistral: 'mistral_ai',
  moonshot: 'moonshot_ai',
  'perplexity-agent': 'perplexity',
  vertex: 'gcp.vertex_ai',
  xai: 'x_ai',
}

/** Returns a provider's name in spans and metrics. */
export const getProviderName = (id: string): string => conventionalNames[id] ?? id
