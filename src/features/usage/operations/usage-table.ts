import * as v from 'valibot'
import { choiceOf } from '../../../admin/input.ts'
import { limitState } from '../../../admin/limit-schema.ts'
import type { OperationEntries } from '../../../admin/operation-table.ts'
import { allOptional, listParameters, named, number, text, texts, time, whole } from '../../../admin/output-schemas.ts'
import { clientFormats } from '../../../types/unions.ts'
import { type UsageOperations, usageInputs } from './usage-operations.ts'

const servedBy = v.picklist(['provider', 'gateway', 'cache', 'guard'])

const someTokens = v.exactOptional(whole)
const tokens = v.object({
  ...{ input: whole, output: whole, cacheRead: whole, cacheWrite: whole, reasoning: whole },
  ...{ inputImage: someTokens, outputImage: someTokens, inputAudio: someTokens, outputAudio: someTokens },
})
const count = v.exactOptional(number)
const units = v.object({ search: count, page: count, credit: count, image: count, second: count, character: count })
const target = v.object({ provider: text, model: text, connectionId: text })
const spent = {
  tokens: v.exactOptional(tokens),
  units: v.exactOptional(units),
  costUsd: count,
  costSource: v.exactOptional(v.picklist(['reported', 'counted', 'estimated'])),
}

const attempt = v.object({
  ...target.entries,
  outcome: text,
  status: whole,
  startMs: number,
  durationMs: number,
  message: v.exactOptional(text),
  ...spent,
})

const skip = v.union([v.object({ ...target.entries, skipped: text }), v.object({ entry: text, skipped: text })])

export const keptRequest = named(
  'KeptRequest',
  v.object({
    id: text,
    time,
    ...allOptional({ keyId: text, groupId: text, metadata: v.record(text, text), user: text }),
    endpoint: text,
    format: choiceOf(clientFormats),
    model: v.exactOptional(text),
    target: v.exactOptional(target),
    streamed: v.boolean(),
    attempts: v.array(attempt),
    skipped: v.exactOptional(v.array(skip)),
    ...spent,
    tokens,
    firstByteMs: count,
    durationMs: number,
    status: whole,
    end: v.picklist(['complete', 'aborted', 'cut', 'failed', 'refused']),
    ...allOptional({ error: text, reason: text, warnings: texts, servedBy }),
  }),
)

const percentiles = v.object({ p50: whole, p95: whole, p99: whole })

export const usageTotals = named(
  'UsageTotals',
  v.object({
    requests: whole,
    failed: whole,
    refused: whole,
    unpriced: whole,
    tokens,
    units: v.exactOptional(units),
    costUsd: number,
    firstByteMs: v.exactOptional(percentiles),
    durationMs: v.exactOptional(percentiles),
  }),
)

export const usageRow = named(
  'UsageRow',
  v.object({
    ...allOptional({ month: text, day: text, hour: time, keyId: text, groupId: text, model: text }),
    ...allOptional({ target, user: text, others: whole }),
    ...usageTotals.entries,
  }),
)

const keyUsage = v.object({
  id: text,
  limits: v.array(limitState),
  ...allOptional({ requests: whole, costUsd: number, unpriced: whole, lastUsedAt: time }),
})

const usageWarnings = { warnings: v.exactOptional(texts) }

/** The result of `usage.summary`. */
export const usageSummary = v.object({
  from: time,
  to: time,
  rows: v.array(usageRow),
  totals: usageTotals,
  series: v.exactOptional(v.array(usageRow)),
  before: v.exactOptional(v.object({ from: time, to: time, totals: usageTotals })),
  names: v.exactOptional(v.record(text, text)),
  ...usageWarnings,
})

/** Descriptions of the filters. */
const filters = {
  from: 'Start: an ISO 8601 time with a time zone, or a UTC date. Default: 24 hours before `to` for totals, all stored requests for requests.',
  to: 'End (exclusive), like `from`. Default: now.',
  keyId: 'Empty: requests without a key. Other string filters can also be empty.',
  model: 'The requested model name.',
  user: 'The end user, as named by clients.',
  provider: 'A called provider.',
  target: 'A called provider and model: `<provider>/<model>`.',
  connectionId: 'A called connection.',
  order: 'Sort order of rows with the same time. Default `cost`.',
}

export const usageTable = {
  summary: {
    method: 'GET',
    path: '/api/usage',
    failure: 'sum up usage',
    input: usageInputs.summary,
    output: usageSummary,
    exports: 'rows',
    summary: 'Aggregate usage',
    description:
      'Requests, tokens, costs, and latency percentiles, grouped by `by`. Also as `text/csv` and `application/jsonl`, rows only.',
    parameters: {
      ...filters,
      by: 'How to group totals, comma-separated: `key`, `group`, `model`, `target`, `user`, `hour`, `day`, `month`. Default `key`. `hour` covers at most 32 days.',
      top: 'Maximum number of rows. A last row, whose `others` is their number, sums up the rest. Not with a time in `by`.',
      series: 'Adds `series`: the first ten rows per hour or day, and the sum of all others. Not with a time in `by`.',
      compare: '`before`: adds the totals of the preceding period of the same length.',
      names: 'Adds `names`: the names of the keys and groups in the rows and the query, by id.',
    },
    errors: [409],
  },
  requests: {
    method: 'GET',
    path: '/api/usage/requests',
    failure: 'list requests',
    input: usageInputs.requests,
    output: v.object({
      requests: v.array(keptRequest),
      before: v.exactOptional(text),
      missing: v.exactOptional(whole),
      ...usageWarnings,
    }),
    exports: 'requests',
    summary: 'List requests',
    description:
      'Newest first, or by `sort` and `order`. A page may have fewer than `limit`; if it has `before`, there are more. As `text/csv` and `application/jsonl`, all requests are sent without a `limit`; with one, the header `x-signalbox-before` contains `before`. `missing`, or the header `x-signalbox-missing`, is the number of requests in the time range that are counted in the totals but have no record.',
    parameters: {
      ...filters,
      ...listParameters,
      status: 'The HTTP status that the client received.',
      end: 'How the request ended.',
      error: "The gateway's error code, such as `KEY_PAUSED`.",
      endpoint: 'The path of the endpoint, such as `/v1/messages`.',
    },
    errors: [409],
  },
  request: {
    method: 'GET',
    path: '/api/usage/requests/:id',
    failure: 'fetch request',
    output: v.object({ request: keptRequest }),
    exports: 'request',
    summary: 'Get a request',
    description: 'By the id in its `x-signalbox-request-id` header. Also as `text/csv` and `application/jsonl`.',
    errors: [409],
  },
  keys: {
    method: 'GET',
    path: '/api/usage/keys',
    failure: 'fetch the usage of keys',
    input: usageInputs.keys,
    output: v.object({ from: time, keys: v.array(keyUsage) }),
    summary: 'Get the usage of keys',
    description:
      'Requests and costs of this month (UTC), the used share of each limit, and the time of the latest request, for up to 100 keys. Separate `ids` with commas; unknown ones are ignored.',
  },
} satisfies OperationEntries<UsageOperations>
