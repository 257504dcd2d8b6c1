/*
 * Everything that is measured, as data. Prometheus, OpenTelemetry and the page that describes them read this table; `measuring.ts` fills it. Names that
 * begin with `gen_ai.` and `http.` are those of the OpenTelemetry conventions, the others are the gateway's own.
 */

/** The label that a measure can have, by its OpenTelemetry name. */
export type LabelName = keyof typeof labels

/** One measure. */
export interface Metric {
  readonly name: string
  readonly kind: 'counter' | 'histogram' | 'upDown' | 'gauge'
  /** As in UCUM: `s`, `{token}`. */
  readonly unit: string
  readonly help: string
  readonly labels: readonly LabelName[]
  /** The upper bounds of a histogram, ascending. */
  readonly buckets?: readonly number[]
}

/** The labels. None has a value that a client can choose freely. */
export const labels = {
  'gen_ai.operation.name':
    'The operation: `chat`, `text_completion`, `embeddings`, `rerank`, `count_tokens` and others.',
  'gen_ai.provider.name':
    "The provider by the conventions' name, such as `gcp.gemini`; its own id where they have none.",
  'gen_ai.request.model': "The provider's model, if the gateway knows it; otherwise `_OTHER`.",
  'gen_ai.token.modality': '`image`, `audio` and `text` where the provider tells them apart, otherwise `unknown`.',
  'error.type':
    "The provider's status of a failed attempt, or `timeout`, `network` and others where it gave none; absent on success.",
  'http.request.method': 'The method.',
  'http.route': "The endpoint's path, with `{model}` where the model's name stands.",
  'http.response.status_code': 'The status that the client got; 499 when it left before.',
  'signalbox.model':
    'The name that the client asked for, if it is a combo, an alias or a known model; otherwise `_OTHER`.',
  'signalbox.outcome': '`answered`, `cancelled`, `outrun`, or the class of the failure.',
  'signalbox.reason': 'Why: the class of a failure, or what refused a request.',
  'signalbox.recovered': '`true` if the client got an answer in the end.',
  'signalbox.cost.source': '`reported` by the provider, `counted` from reported tokens, or `estimated`.',
  'signalbox.state': '`ok`, `cooling` or `draining`.',
  'signalbox.connection': 'The id of the connection.',
  'signalbox.won': '`true` if the second call was the faster one.',
  'signalbox.format.from': "The client's format.",
  'signalbox.loss': 'What became of a part of the request: `dropped`, `clamped` and others.',
  'signalbox.scope': 'Whose limit it is: `group` or `gateway`.',
  'signalbox.group': 'The id of the group; absent for the gateway.',
  'signalbox.unit': '`requests`, `tokens`, `usd` or `parallel`.',
  'signalbox.window': '`minute`, `hour`, `day`, `week`, `month` or `total`; absent for `parallel`.',
  'signalbox.metric': 'The measure whose label sets were too many.',
  'signalbox.version': 'The version of the package.',
} as const

/** Seconds of a model's work. */
const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 163.84, 327.68]
/** Seconds of an HTTP request. */
const HTTP_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
/** Seconds to the first token at a server of models. */
const FIRST_TOKEN = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
const TOKENS = Array.from({ length: 14 }, (_, power) => 4 ** power)
const ATTEMPTS = [1, 2, 3, 4, 6, 10]

const TARGET = ['gen_ai.operation.name', 'gen_ai.provider.name', 'gen_ai.request.model'] as const
const FAILED_TARGET = [...TARGET, 'error.type'] as const
const ASKED = ['gen_ai.operation.name', 'signalbox.model'] as const

const tokenCounter = (name: string, help: string): Metric => ({
  name: `gen_ai.client.inference.usage.${name}`,
  kind: 'counter',
  unit: '{token}',
  help,
  labels: [...TARGET, 'gen_ai.token.modality'],
})

/** All measures. */
export const measures = {
  inferenceDuration: {
    name: 'gen_ai.client.inference.duration',
    kind: 'histogram',
    unit: 's',
    help: 'How long attempts took, from their start to their last byte.',
    labels: FAILED_TARGET,
    buckets: SECONDS,
  },
  embeddingsDuration: {
    name: 'gen_ai.client.embeddings.duration',
    kind: 'histogram',
    unit: 's',
    help: 'How long attempts at embeddings took.',
    labels: FAILED_TARGET,
    buckets: SECONDS,
  },
  operationDuration: {
    name: 'gen_ai.client.operation.duration',
    kind: 'histogram',
    unit: 's',
    help: 'How long attempts at anything else took.',
    labels: FAILED_TARGET,
    buckets: SECONDS,
  },
  firstChunk: {
    name: 'gen_ai.client.inference.time_to_first_chunk',
    kind: 'histogram',
    unit: 's',
    help: 'From the start of an attempt to the first content of its stream.',
    labels: TARGET,
    buckets: SECONDS,
  },
  inputTokens: tokenCounter('input_tokens', 'Input tokens, cached ones included.'),
  outputTokens: tokenCounter('output_tokens', 'Output tokens, reasoning included.'),
  cacheReadTokens: tokenCounter('cache_read.input_tokens', "Input tokens that were read from the provider's cache."),
  cacheWriteTokens: tokenCounter('cache_write.input_tokens', "Input tokens that were written to the provider's cache."),
  reasoningTokens: tokenCounter('reasoning.output_tokens', 'Output tokens of reasoning.'),
  inputSize: {
    name: 'gen_ai.client.inference.operation.input_tokens',
    kind: 'histogram',
    unit: '{token}',
    help: 'Input tokens of an attempt.',
    labels: FAILED_TARGET,
    buckets: TOKENS,
  },
  outputSize: {
    name: 'gen_ai.client.inference.operation.output_tokens',
    kind: 'histogram',
    unit: '{token}',
    help: 'Output tokens of an attempt.',
    labels: FAILED_TARGET,
    buckets: TOKENS,
  },
  httpDuration: {
    name: 'http.server.request.duration',
    kind: 'histogram',
    unit: 's',
    help: 'How long model requests took, from their arrival to the last byte of their answer.',
    labels: ['http.request.method', 'http.route', 'http.response.status_code'],
    buckets: HTTP_SECONDS,
  },
  requestDuration: {
    name: 'gen_ai.server.request.duration',
    kind: 'histogram',
    unit: 's',
    help: 'How long model requests took, by the requested name.',
    labels: [...ASKED, 'error.type'],
    buckets: SECONDS,
  },
  firstToken: {
    name: 'gen_ai.server.time_to_first_token',
    kind: 'histogram',
    unit: 's',
    help: 'From the arrival of a request to the first content of its stream, failed attempts included.',
    labels: ASKED,
    buckets: FIRST_TOKEN,
  },
  requestAttempts: {
    name: 'signalbox.request.attempts',
    kind: 'histogram',
    unit: '{attempt}',
    help: 'Attempts that a request took.',
    labels: ASKED,
    buckets: ATTEMPTS,
  },
  attempts: {
    name: 'signalbox.attempts',
    kind: 'counter',
    unit: '{attempt}',
    help: 'Attempts by how they turned out.',
    labels: ['gen_ai.provider.name', 'gen_ai.request.model', 'signalbox.outcome'],
  },
  fallbacks: {
    name: 'signalbox.fallbacks',
    kind: 'counter',
    unit: '{attempt}',
    help: 'Failed attempts that another one followed.',
    labels: ['gen_ai.provider.name', 'signalbox.reason', 'signalbox.recovered'],
  },
  hedges: {
    name: 'signalbox.hedges',
    kind: 'counter',
    unit: '{attempt}',
    help: 'Second calls that were made beside a slow one.',
    labels: ['signalbox.won'],
  },
  cost: {
    name: 'signalbox.usage.cost_usd',
    kind: 'counter',
    unit: '{USD}',
    help: 'What attempts cost in US dollars, as far as the price is known.',
    labels: [...TARGET, 'signalbox.cost.source'],
  },
  requestsActive: {
    name: 'signalbox.requests.active',
    kind: 'upDown',
    unit: '{request}',
    help: 'Model requests under way.',
    labels: ['gen_ai.operation.name'],
  },
  streamsActive: {
    name: 'signalbox.streams.active',
    kind: 'upDown',
    unit: '{request}',
    help: 'Streams under way.',
    labels: ['gen_ai.operation.name'],
  },
  refused: {
    name: 'signalbox.requests.refused',
    kind: 'counter',
    unit: '{request}',
    help: 'Requests that were refused before any provider was called: by a key, a model, a limit, their size, or as too many are under way.',
    labels: ['signalbox.reason'],
  },
  losses: {
    name: 'signalbox.losses',
    kind: 'counter',
    unit: '{loss}',
    help: 'What translations lost, as x-signalbox-warning names it.',
    labels: ['signalbox.format.from', 'gen_ai.provider.name', 'signalbox.loss'],
  },
  targetState: {
    name: 'signalbox.target.state',
    kind: 'gauge',
    unit: '1',
    help: 'Is a target in this state? 1 or 0.',
    labels: ['gen_ai.provider.name', 'gen_ai.request.model', 'signalbox.connection', 'signalbox.state'],
  },
  limitUsed: {
    name: 'signalbox.limit.used',
    kind: 'gauge',
    unit: '1',
    help: 'How much of a limit is used, from 0 to 1. Of groups and the gateway; limits of keys are in GET /api/keys/{id}/limits.',
    labels: ['signalbox.scope', 'signalbox.group', 'signalbox.unit', 'signalbox.window'],
  },
  overflow: {
    name: 'signalbox.metrics.overflow',
    kind: 'counter',
    unit: '{measurement}',
    help: 'Measurements that were counted under the labels `_OTHER`, as there were too many label sets.',
    labels: ['signalbox.metric'],
  },
  build: {
    name: 'signalbox.build_info',
    kind: 'gauge',
    unit: '1',
    help: 'The version that runs.',
    labels: ['signalbox.version'],
  },
} as const satisfies Record<string, Metric>

/** The value of a label that stands for all others. */
export const OTHER = '_OTHER'

/** The most label sets of one measure, and of all measures together. */
export const MAX_SERIES = { measure: 2_000, all: 20_000 }

/** Of a measure's label sets, those that are made. LabelSet that are `undefined` are absent. */
export type LabelSet = Readonly<Partial<Record<LabelName, string>>>

/** One label set of a measure: adds to a counter or a gauge, or records a value in a histogram. */
export interface Series {
  add(value: number): void
}

/** Where measurements go. */
export interface Meter {
  /** The series of these labels; the same labels give the same series. */
  series(measure: Metric, labels: LabelSet): Series
}

/** The names that the conventions give to providers; those that are not here have their own ids. */
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

/** The provider's name in spans and metrics. */
export const providerName = (id: string): string => conventionalNames[id] ?? id
