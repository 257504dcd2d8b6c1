import type { Load } from './load.ts'
import type { Comparison, Figure } from './ratios.ts'

/** The server between the clients and the provider. `direct` means none. */
export type ServerName =
  | 'direct'
  | 'proxy'
  | 'translator'
  | 'file'
  | 'identified'
  | 'usage-off'
  | 'memory'
  | 'redis'
  | 'postgres'
  | 'bun-proxy'
  | 'bun'

export interface Row {
  /** The server's name, with `-limited` for a key with limits. */
  name: string
  label: string
  server: ServerName
  isLimited: boolean
  /** The row to compare with. Rows without one are only shown. */
  floor: string | undefined
  /** Whether the row is part of the short check. */
  isChecked: boolean
}

export interface Suite {
  name: string
  label: string
  /** What CPU time is measured per. */
  unit: 'request' | 'chunk' | 'start'
  rows: Row[]
  /** The figures that the table shows. */
  shown: Figure[]
  /** The figures that are compared. */
  compared: Figure[]
  /** Omitted for cold starts. */
  load?: Pick<Load, 'path' | 'body' | 'connections' | 'chunks' | 'requestsEach' | 'rampMs'> | undefined
  /** The load in the short check, if it is different and not just shorter. */
  checkLoad?: Suite['load']
}

const labels: Record<ServerName, string> = {
  direct: 'no proxy',
  proxy: 'bare proxy',
  translator: 'minimal translator',
  file: 'Signalbox',
  identified: 'Signalbox, identified',
  'usage-off': 'Signalbox, usage off',
  memory: 'Signalbox, memory store',
  redis: 'Signalbox, Redis',
  postgres: 'Signalbox, Postgres',
  'bun-proxy': 'bare proxy on Bun',
  bun: 'Signalbox on Bun',
}

type RowOptions = Partial<Pick<Row, 'isLimited' | 'floor' | 'isChecked'>>

function row(server: ServerName, { isLimited = false, isChecked = false, floor }: RowOptions = {}): Row {
  const name = isLimited ? `${server}-limited` : server
  return { name, label: labels[server] + (isLimited ? ', limited key' : ''), server, isLimited, floor, isChecked }
}

const checked = { isChecked: true }
const overProxy = { floor: 'proxy' }
const limited = { isLimited: true }
const bunRows = [row('bun-proxy'), row('bun', { floor: 'bun-proxy' })]

const content = 'Say something about foxes and dogs, in one sentence.'
const system = 'You are a helpful assistant.'

function chat(model: string, extra = {}): Pick<Load, 'path' | 'body'> {
  const messages = [
    { role: 'system', content: system },
    { role: 'user', content },
  ]
  return {
    path: '/v1/chat/completions',
    body: JSON.stringify({ model, messages, temperature: 0.7, max_tokens: 256, ...extra }),
  }
}

function streamChat(model: string): Pick<Load, 'path' | 'body'> {
  return chat(model, { stream: true, stream_options: { include_usage: true } })
}

function streamMessages(model: string): Pick<Load, 'path' | 'body'> {
  const messages = [{ role: 'user', content }]
  return {
    path: '/v1/messages',
    body: JSON.stringify({ model, system, messages, temperature: 0.7, max_tokens: 256, stream: true }),
  }
}

const embedding = {
  path: '/v1/embeddings',
  body: JSON.stringify({ model: 'vectors', input: 'The quick brown fox jumps over the lazy dog.' }),
}

/** Creates a suite of streams that the gateway translates, measured against the minimal translator. */
function createTranslationSuite(name: string, label: string, request: Pick<Load, 'path' | 'body'>): Suite {
  return {
    name,
    label: `Translated: 64 streams, ${label}`,
    unit: 'chunk',
    rows: [
      row('translator', checked),
      row('file', { floor: 'translator', ...checked }),
      row('file', { floor: 'translator', ...limited }),
      row('memory', { floor: 'translator' }),
    ],
    shown: ['rate', 'p50', 'p99'],
    compared: ['cpuPerChunk'],
    load: { ...request, connections: 64, chunks: 100 },
  }
}

/** Model names specify how the provider streams: the number of chunks, and the milliseconds between them. Combos have the same names. */
export const suites: Suite[] = [
  {
    name: 'json',
    label: 'JSON, 32 connections',
    unit: 'request',
    rows: [
      row('proxy', checked),
      row('file', { ...overProxy, ...checked }),
      row('file', { ...overProxy, ...limited, ...checked }),
      row('identified', { floor: 'file', ...checked }),
      row('usage-off', { ...overProxy, ...checked }),
      row('memory', { ...overProxy, ...checked }),
      row('memory', { ...overProxy, ...limited, ...checked }),
      row('redis', overProxy),
      row('redis', { ...overProxy, ...limited }),
      row('postgres', overProxy),
      row('postgres', { ...overProxy, ...limited }),
      ...bunRows,
    ],
    shown: ['rate', 'p50', 'p99'],
    compared: ['cpuPerRequest', 'memory'],
    load: { ...chat('chat-100x0'), connections: 32 },
  },
  {
    name: 'latency',
    label: 'JSON, one request at a time',
    unit: 'request',
    rows: [
      row('direct', checked),
      row('proxy', checked),
      row('file', { ...overProxy, ...checked }),
      row('file', { floor: 'file', ...limited, ...checked }),
      row('usage-off', overProxy),
      row('memory', overProxy),
      row('memory', { floor: 'memory', ...limited }),
      row('redis', overProxy),
      row('redis', { floor: 'redis', ...limited }),
      row('postgres', overProxy),
      row('postgres', { floor: 'postgres', ...limited }),
    ],
    shown: ['p50', 'p99'],
    compared: ['added'],
    load: { ...chat('chat-100x0'), connections: 1 },
  },
  {
    name: 'embeddings',
    label: 'Embeddings, 32 connections',
    unit: 'request',
    rows: [row('proxy', checked), row('file', { ...overProxy, ...checked }), row('memory', overProxy)],
    shown: ['rate', 'p50', 'p99'],
    compared: ['cpuPerRequest'],
    load: { ...embedding, connections: 32 },
  },
  {
    name: 'streams',
    label: '64 streams of 100 chunks',
    unit: 'chunk',
    rows: [
      row('proxy', checked),
      row('file', { ...overProxy, ...checked }),
      row('file', { ...overProxy, ...limited, ...checked }),
      row('usage-off', overProxy),
      row('memory', overProxy),
      row('redis', overProxy),
      row('postgres', overProxy),
      ...bunRows,
    ],
    shown: ['rate', 'p50', 'p99'],
    compared: ['cpuPerChunk'],
    load: { ...streamChat('chat-100x0'), connections: 64, chunks: 100 },
  },
  createTranslationSuite(
    'messages-to-chat',
    'Messages client, Chat Completions provider',
    streamMessages('chat-100x0'),
  ),
  createTranslationSuite(
    'chat-to-messages',
    'Chat Completions client, Messages provider',
    streamChat('messages-100x0'),
  ),
  {
    name: 'slow-streams',
    label: '500 streams, a chunk every 50 ms',
    unit: 'chunk',
    rows: [
      row('proxy', checked),
      row('file', { ...overProxy, ...checked }),
      row('file', { ...overProxy, ...limited }),
      row('usage-off', overProxy),
    ],
    shown: ['lagP50'],
    compared: ['cpuPerChunk', 'lagP99', 'memory'],
    load: { ...streamChat('chat-100x50'), connections: 500, chunks: 100, requestsEach: 1, rampMs: 1_000 },
    checkLoad: { ...streamChat('chat-40x50'), connections: 500, chunks: 40, requestsEach: 1, rampMs: 500 },
  },
  {
    name: 'start',
    label: 'Cold start; Signalbox with 100,000 usage records',
    unit: 'start',
    rows: [
      row('proxy', checked),
      row('file', { ...overProxy, ...checked }),
      row('redis', overProxy),
      row('postgres', overProxy),
    ],
    shown: [],
    compared: ['start', 'memory'],
  },
]

/** Returns the suites with the filter in their names, with only the rows for these servers. */
export function selectSuites(
  filter: string,
  { isCheck, servers }: { isCheck: boolean; servers: ReadonlySet<ServerName> },
): Suite[] {
  return suites
    .filter(({ name, label }) => `${name} ${label}`.includes(filter))
    .map((suite) => ({
      ...suite,
      rows: suite.rows.filter(({ server, isChecked }) => servers.has(server) && (isChecked || !isCheck)),
      load: (isCheck && suite.checkLoad) || suite.load,
    }))
}

export function listComparisons(selected: readonly Suite[]): Comparison[] {
  return selected.flatMap(({ name: suite, rows, compared }) =>
    rows.flatMap(({ name, floor }) =>
      floor === undefined ? [] : compared.map((figure) => ({ suite, row: name, floor, figure })),
    ),
  )
}
