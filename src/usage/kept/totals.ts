import { isObject, tryParseJson } from '../../lib/json.ts'
import { nanoOf } from '../../lib/usd.ts'
import { TextTable } from './codec.ts'
import { Histogram } from './histogram.ts'
import {
  addMedia,
  addTokens,
  addUnits,
  type KeptRequest,
  type KeptTarget,
  mediaCounts,
  NO_TOKENS,
  type Tokens,
  type UsedUnits,
} from './record.ts'

/** What requests are summed by; empty where a request has none. */
export interface Dimensions {
  keyId: string
  groupId: string
  /** The name that clients asked for. */
  model: string
  /** The target: tokens and costs are those of its attempts, requests those that it answered or was called last for. */
  provider: string
  targetModel: string
  connectionId: string
  user: string
}

/** The sums of some requests. */
export interface Sums {
  requests: number
  /** Those of `requests` that failed, were cut or were refused. */
  failed: number
  /** Those of `failed` that were refused before any provider was called. */
  refused: number
  /** Attempts with tokens or units whose price is not known. */
  unpriced: number
  tokens: Tokens
  units: UsedUnits
  /** Whole nano-dollars. */
  nano: number
  /** Of all requests that were not refused; `undefined` where there are none, and in sums that an earlier release has written. */
  durationMs: Histogram | undefined
  /** Of the requests that have one, otherwise as `durationMs`. */
  firstByteMs: Histogram | undefined
}

/** One row of totals. */
export interface TotalsRow {
  of: Dimensions
  sums: Sums
}

export const noSums = (): Sums => ({
  requests: 0,
  failed: 0,
  refused: 0,
  unpriced: 0,
  tokens: { ...NO_TOKENS },
  units: {},
  nano: 0,
  durationMs: undefined,
  firstByteMs: undefined,
})

const MEASURED = ['durationMs', 'firstByteMs'] as const

/** Adds to `sum`. */
export function addSums(sum: Sums, more: Readonly<Sums>): void {
  sum.requests += more.requests
  sum.failed += more.failed
  sum.refused += more.refused
  sum.unpriced += more.unpriced
  addTokens(sum.tokens, more.tokens)
  addUnits(sum.units, more.units)
  sum.nano += more.nano
  for (const name of MEASURED) {
    const times = more[name]
    if (!times) continue
    sum[name] ??= new Histogram()
    sum[name].merge(times)
  }
}

const copyOf = (sums: Readonly<Sums>): Sums => ({
  ...sums,
  tokens: { ...sums.tokens },
  units: { ...sums.units },
  durationMs: sums.durationMs && new Histogram(sums.durationMs.text),
  firstByteMs: sums.firstByteMs && new Histogram(sums.firstByteMs.text),
})

/** What one request adds: to the row of its target, and to those of the others that were called for it. */
export function* rowsOf(request: KeptRequest): Generator<TotalsRow> {
  const { end, target, firstByteMs, durationMs } = request
  const isRefused = end === 'refused'
  const isFailed = isRefused || end === 'failed' || end === 'cut'
  const own: TotalsRow = {
    of: dimensionsOf(request, target),
    sums: {
      requests: 1,
      failed: isFailed ? 1 : 0,
      refused: isRefused ? 1 : 0,
      unpriced: 0,
      tokens: { ...NO_TOKENS },
      units: {},
      nano: 0,
      durationMs: isRefused ? undefined : Histogram.of(durationMs),
      firstByteMs: firstByteMs === undefined ? undefined : Histogram.of(firstByteMs),
    },
  }
  for (const attempt of request.attempts) {
    const { tokens, units, costUsd } = attempt
    if (!tokens && !units) continue
    const isOwn = target && attempt.connectionId === target.connectionId && attempt.model === target.model
    const row = isOwn ? own : { of: dimensionsOf(request, attempt), sums: noSums() }
    addTokens(row.sums.tokens, tokens)
    addUnits(row.sums.units, units)
    if (costUsd === undefined) row.sums.unpriced++
    else row.sums.nano += nanoOf(costUsd)
    if (row !== own) yield row
  }
  yield own
}

const dimensionsOf = (request: KeptRequest, target: KeptTarget | undefined): Dimensions => ({
  keyId: request.keyId ?? '',
  groupId: request.groupId ?? '',
  model: request.model ?? '',
  provider: target?.provider ?? '',
  targetModel: target?.model ?? '',
  connectionId: target?.connectionId ?? '',
  user: request.user ?? '',
})

/** A text that no other dimensions have. */
function keyOf({ keyId, groupId, model, provider, targetModel, connectionId, user }: Dimensions): string {
  const lengths = `${keyId.length},${groupId.length},${model.length},${provider.length},${targetModel.length},${connectionId.length}`
  return `${lengths} ${keyId}${groupId}${model}${provider}${targetModel}${connectionId}${user}`
}

/** The sums of requests, a row for each of their dimensions. */
export function rowsOfAll(requests: Iterable<KeptRequest>): TotalsRow[] {
  const totals = new Totals()
  for (const request of requests) for (const row of rowsOf(request)) totals.add(row)
  return [...totals.rows()]
}

/** What is left out first where a value would be too large. */
const LEFT_OUT = ['user', 'connectionId', 'targetModel', 'model'] as const satisfies (keyof Dimensions)[]

type StoredRow = [
  ...of: [number, number, number, number, number, number, number],
  ...counts: [number, number, number, number, number, number, number, number, number, number],
  /** Earlier releases wrote it only where there were any, and read nothing after it. */
  units?: UsedUnits,
  /** Histograms, empty where nothing was measured. */
  durationMs?: string,
  firstByteMs?: string,
  /** Tokens of images and sound; only where there are any. */
  media?: number[],
]

/** A value that holds totals. */
interface StoredTotals {
  /** By instance, the number of its last batch whose requests are in here. */
  through: Record<string, number>
  /** How many of `LEFT_OUT` rows no longer have. */
  leftOut: number
  texts: string[]
  rows: StoredRow[]
}

/**
 * The sums of the requests of one period and one shard. They say through which batch of each instance they have got, so that a batch that is
 * added again changes nothing.
 */
export class Totals {
  through: Record<string, number> = {}
  leftOut = 0
  readonly #rows = new Map<string, TotalsRow>()

  rows(): IterableIterator<TotalsRow> {
    return this.#rows.values()
  }

  add({ of, sums }: TotalsRow): void {
    const key = keyOf(of)
    const row = this.#rows.get(key)
    if (row) addSums(row.sums, sums)
    else this.#rows.set(key, { of, sums: copyOf(sums) })
  }

  /** The text of the value, with as many dimensions as `most` characters can hold. */
  encode(most: number): string {
    for (;;) {
      const text = this.#encode()
      if (text.length <= most || !this.#leaveOut()) return text
    }
  }

  #encode(): string {
    const table = new TextTable()
    const place = (text: string) => table.placeOf(text || undefined)
    const rows = Array.from(this.#rows.values(), ({ of, sums }): StoredRow => {
      const { input, output, cacheRead, cacheWrite, reasoning } = sums.tokens
      const media = mediaCounts(sums.tokens)
      const more: [] | [number[]] = media ? [media] : []
      return [
        place(of.keyId),
        place(of.groupId),
        place(of.model),
        place(of.provider),
        place(of.targetModel),
        place(of.connectionId),
        place(of.user),
        sums.requests,
        sums.failed,
        sums.refused,
        sums.unpriced,
        input,
        output,
        cacheRead,
        cacheWrite,
        reasoning,
        sums.nano,
        sums.units,
        sums.durationMs?.text ?? '',
        sums.firstByteMs?.text ?? '',
        ...more,
      ]
    })
    const { through, leftOut } = this
    return JSON.stringify({ through, leftOut, texts: table.texts, rows } satisfies StoredTotals)
  }

  /** Adds up the rows that differ in one dimension alone. Returns whether there was one to leave out. */
  #leaveOut(): boolean {
    const dimension = LEFT_OUT[this.leftOut]
    if (dimension === undefined) return false
    this.leftOut++
    const before = [...this.#rows.values()]
    this.#rows.clear()
    for (const { of, sums } of before) this.add({ of: { ...of, [dimension]: '' }, sums })
    return true
  }

  /** Rows to add must lack the dimensions that are left out. */
  fitted(row: TotalsRow): TotalsRow {
    if (this.leftOut === 0) return row
    const of = { ...row.of }
    for (const dimension of LEFT_OUT.slice(0, this.leftOut)) of[dimension] = ''
    return { of, sums: row.sums }
  }
}

/** The totals of a value; `undefined` when it is damaged. */
export function decodeTotals(text: string): Totals | undefined {
  const stored = tryParseJson(text)
  if (!isObject(stored) || !Array.isArray(stored.texts) || !Array.isArray(stored.rows) || !isObject(stored.through))
    return undefined
  const { through, leftOut, texts, rows } = stored as unknown as StoredTotals // only `encode` writes such values
  const totals = new Totals()
  totals.through = through
  totals.leftOut = leftOut
  for (const row of rows) totals.add(rowOf(row, texts))
  return totals
}

function rowOf(row: StoredRow, texts: readonly string[]): TotalsRow {
  const [keyId, groupId, model, provider, targetModel, connectionId, user, requests, failed, refused, unpriced] = row
  const { 11: input, 12: output, 13: cacheRead, 14: cacheWrite, 15: reasoning, 16: nano } = row
  const { 17: units = {}, 18: durationMs, 19: firstByteMs, 20: media } = row
  const text = (place: number) => texts[place - 1] ?? ''
  return {
    of: {
      keyId: text(keyId),
      groupId: text(groupId),
      model: text(model),
      provider: text(provider),
      targetModel: text(targetModel),
      connectionId: text(connectionId),
      user: text(user),
    },
    sums: {
      requests,
      failed,
      refused,
      unpriced,
      tokens: addMedia({ input, output, cacheRead, cacheWrite, reasoning }, media),
      units,
      nano,
      durationMs: durationMs ? new Histogram(durationMs) : undefined,
      firstByteMs: firstByteMs ? new Histogram(firstByteMs) : undefined,
    },
  }
}
