import * as v from 'valibot'
import { clientFormats } from '../types/unions.ts'
import { choiceOf } from './input.ts'

/* What operations of usage resolve to, as schemas. */

const text = v.string()
const number = v.number()
const whole = v.pipe(number, v.integer())
const time = v.pipe(text, v.isoTimestamp())

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

export const keptRequest = v.object({
  id: text,
  time,
  keyId: v.exactOptional(text),
  groupId: v.exactOptional(text),
  metadata: v.exactOptional(v.record(text, text)),
  user: v.exactOptional(text),
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
  error: v.exactOptional(text),
  reason: v.exactOptional(text),
  warnings: v.exactOptional(v.array(text)),
})

const percentiles = v.object({ p50: whole, p95: whole, p99: whole })

export const usageTotals = v.object({
  requests: whole,
  failed: whole,
  refused: whole,
  unpriced: whole,
  tokens,
  units: v.exactOptional(units),
  costUsd: number,
  firstByteMs: v.exactOptional(percentiles),
  durationMs: v.exactOptional(percentiles),
})

export const usageRow = v.object({
  month: v.exactOptional(text),
  day: v.exactOptional(text),
  hour: v.exactOptional(time),
  keyId: v.exactOptional(text),
  groupId: v.exactOptional(text),
  model: v.exactOptional(text),
  target: v.exactOptional(target),
  user: v.exactOptional(text),
  others: v.exactOptional(whole),
  ...usageTotals.entries,
})

export const usageOutputs = {
  summary: v.object({
    from: time,
    to: time,
    rows: v.array(usageRow),
    totals: usageTotals,
    series: v.exactOptional(v.array(usageRow)),
    before: v.exactOptional(v.object({ from: time, to: time, totals: usageTotals })),
    names: v.exactOptional(v.record(text, text)),
    warnings: v.exactOptional(v.array(text)),
  }),
  requests: v.object({ requests: v.array(keptRequest), before: v.exactOptional(text) }),
  request: v.object({ request: keptRequest }),
}
