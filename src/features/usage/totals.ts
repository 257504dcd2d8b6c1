import { isObject, tryParseJson } from '../../lib/json.ts'
import { toNanoUsd } from '../../lib/usd.ts'
import { Histogram } from './histogram.ts'
import {
  addOptionalCounts,
  addTokens,
  addUnits,
  listOptionalCounts,
  NO_TOKENS,
  type StoredRequest,
  type StoredTarget,
  type Tokens,
  type UsedUnits,
} from './request-record.ts'
import { StringTable } from './usage-codec.ts'

/** The dimensions of totals. An empty string means that there is no value. */
export interface Dimensions {
  keyId: string
  groupId: string
  /** The requested model. */
  model: string
  /**
   * The target. Tokens and costs count toward the target that the attempt called. Requests count toward the target that responded or, if none did,
   * the last target called.
   */
  provider: string
  targetModel: string
  connectionId: string
  /** The end user that the client specified. Empty for requests with an account. */
  user: string
  /** An account's ref. */
  account: string
}

/** Totals for a set of requests. */
export interface RowTotals {
  requests: number
  /** Requests that failed, were cut off, or were rejected. */
  failed: number
  /** Failed requests that were rejected before any provider was called. */
  refused: number
  /** The number of attempts with tokens or units of an unknown price. */
  unpriced: number
  tokens: Tokens
  units: UsedUnits
  /** Integer nano-dollars. */
  nano: number
  /** The savings of the gateway's cache breakpoints, in integer nano-dollars; negative if they cost more. */
  cacheSavedNano: number
  /** Durations of requests that weren't rejected. `undefined` if there are none, and in totals from earlier releases. */
  durationMs: Histogram | undefined
  /** Times to the first byte of the requests that have one. */
  firstByteMs: Histogram | undefined
}

/** A row of totals. */
export interface TotalsRow {
  dimensions: Dimensions
  sums: RowTotals
}

export const createRowTotals = (): RowTotals => ({
  requests: 0,
  failed: 0,
  refused: 0,
  unpriced: 0,
  tokens: { ...NO_TOKENS },
  units: {},
  nano: 0,
  cacheSavedNano: 0,
  durationMs: undefined,
  firstByteMs: undefined,
})

const HISTOGRAM_FIELDS = ['durationMs', 'firstByteMs'] as const

export function addRowTotals(sum: RowTotals, addition: Readonly<RowTotals>): void {
  sum.requests += addition.requests
  sum.failed += addition.failed
  sum.refused += addition.refused
  sum.unpriced += addition.unpriced
  addTokens(sum.tokens, addition.tokens)
  addUnits(sum.units, addition.units)
  sum.nano += addition.nano
  sum.cacheSavedNano += addition.cacheSavedNano
  for (const name of HISTOGRAM_FIELDS) {
    const times = addition[name]
    if (!times) continue
    sum[name] ??= new Histogram()
    sum[name].merge(times)
  }
}

const copyRowTotals = (sums: Readonly<RowTotals>): RowTotals => ({
  ...sums,
  tokens: { ...sums.tokens },
  units: { ...sums.units },
  durationMs: sums.durationMs && new Histogram(sums.durationMs.text),
  firstByteMs: sums.firstByteMs && new Histogram(sums.firstByteMs.text),
})

/** Yields a row for each attempt with usage on a target other than the request's, then the row for the request and its own target. */
export function* getTotalsRows(request: StoredRequest): Generator<TotalsRow> {
  const { end, target, firstByteMs, durationMs, promptCache, chargedUsd = 0 } = request
  const isRefused = end === 'refused'
  const isFailed = isRefused || end === 'failed' || end === 'cut'
  const mainTarget: TotalsRow = {
    dimensions: getDimensions(request, target),
    sums: {
      requests: 1,
      failed: isFailed ? 1 : 0,
      refused: isRefused ? 1 : 0,
      unpriced: 0,
      tokens: { ...NO_TOKENS },
      units: {},
      nano: toNanoUsd(chargedUsd),
      cacheSavedNano: promptCache?.by === 'gateway' ? toNanoUsd(promptCache.savedUsd ?? 0) : 0,
      durationMs: isRefused ? undefined : Histogram.fromTime(durationMs),
      firstByteMs: firstByteMs === undefined ? undefined : Histogram.fromTime(firstByteMs),
    },
  }
  for (const attempt of request.attempts) {
    const { tokens, units, costUsd } = attempt
    if (!tokens && !units) continue
    const isMainTarget = target && attempt.connectionId === target.connectionId && attempt.model === target.model
    const row = isMainTarget ? mainTarget : { dimensions: getDimensions(request, attempt), sums: createRowTotals() }
    addTokens(row.sums.tokens, tokens)
    addUnits(row.sums.units, units)
    if (costUsd === undefined) row.sums.unpriced++
    else row.sums.nano += toNanoUsd(costUsd)
    if (row !== mainTarget) yield row
  }
  yield mainTarget
}

const getDimensions = (request: StoredRequest, target: StoredTarget | undefined): Dimensions => ({
  keyId: request.keyId ?? '',
  groupId: request.groupId ?? '',
  model: request.model ?? '',
  provider: target?.provider ?? '',
  targetModel: target?.model ?? '',
  connectionId: target?.connectionId ?? '',
  user: request.account === undefined ? (request.user ?? '') : '',
  account: request.account ?? '',
})

function getRowKey({ keyId, groupId, model, provider, targetModel, connectionId, user, account }: Dimensions): string {
  const lengths = `${keyId.length},${groupId.length},${model.length},${provider.length},${targetModel.length},${connectionId.length},${account.length}`
  return `${lengths} ${keyId}${groupId}${model}${provider}${targetModel}${connectionId}${account}${user}`
}

/** The dimensions to drop, in this order, if the totals would otherwise be too large. */
const DROPPABLE_DIMENSIONS = [
  'account',
  'user',
  'connectionId',
  'targetModel',
  'model',
] as const satisfies (keyof Dimensions)[]

type StoredRow = [
  ...of: [number, number, number, number, number, number, number],
  ...counts: [number, number, number, number, number, number, number, number, number, number],
  /** Absent if there are no units. Earlier releases didn't write any fields after this one. */
  units?: UsedUnits,
  /** Histograms. Empty if nothing was measured. */
  durationMs?: string,
  firstByteMs?: string,
  /** Image and audio tokens, if any. */
  media?: number[],
  /** Absent if there is no account, or 0 if another field follows. */
  account?: number,
  /** Absent if the gateway's cache breakpoints saved nothing. */
  cacheSavedNano?: number,
]

/** The totals as stored. */
interface StoredTotals {
  /** The number of each instance's last batch that these totals include. */
  through: Record<string, number>
  /** The number of `DROPPABLE_DIMENSIONS` that were dropped. */
  leftOut: number
  texts: string[]
  rows: StoredRow[]
}

/** The totals for one period and shard. They record the last included batch of each instance, so no batch is added twice. */
export class Totals {
  through: Record<string, number> = {}
  droppedCount = 0
  readonly #rows = new Map<string, TotalsRow>()

  /** The number of rows. */
  get size(): number {
    return this.#rows.size
  }

  rows(): IterableIterator<TotalsRow> {
    return this.#rows.values()
  }

  add({ dimensions, sums }: TotalsRow): void {
    const key = getRowKey(dimensions)
    const row = this.#rows.get(key)
    if (row) addRowTotals(row.sums, sums)
    else this.#rows.set(key, { dimensions, sums: copyRowTotals(sums) })
  }

  addRequest(request: StoredRequest): void {
    for (const row of getTotalsRows(request)) this.add(this.dropDimensions(row))
  }

  /** Encodes the totals. Drops dimensions until they fit into `max` characters. */
  encode(max: number): string {
    for (;;) {
      const text = this.#encode()
      if (text.length <= max || !this.dropNextDimension()) return text
    }
  }

  #encode(): string {
    const table = new StringTable()
    const getIndex = (text: string) => table.getIndex(text || undefined)
    const rows = Array.from(this.#rows.values(), ({ dimensions, sums }): StoredRow => {
      const { input, output, cacheRead, cacheWrite, reasoning } = sums.tokens
      const mediaCounts = listOptionalCounts(sums.tokens)
      const account = getIndex(dimensions.account)
      const savedNano = sums.cacheSavedNano
      const trailingSums: [] | [number[]] | [number[], number] | [number[], number, number] = savedNano
        ? [mediaCounts ?? [], account, savedNano]
        : account
          ? [mediaCounts ?? [], account]
          : mediaCounts
            ? [mediaCounts]
            : []
      return [
        getIndex(dimensions.keyId),
        getIndex(dimensions.groupId),
        getIndex(dimensions.model),
        getIndex(dimensions.provider),
        getIndex(dimensions.targetModel),
        getIndex(dimensions.connectionId),
        getIndex(dimensions.user),
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
        ...trailingSums,
      ]
    })
    const { through, droppedCount: leftOut } = this
    return JSON.stringify({ through, leftOut, texts: table.texts, rows } satisfies StoredTotals)
  }

  /** Drops the next dimension and merges rows that no longer differ. Returns `false` if no dimension is left to drop. */
  dropNextDimension(): boolean {
    const dimension = DROPPABLE_DIMENSIONS[this.droppedCount]
    if (dimension === undefined) return false
    this.droppedCount++
    const previousRows = [...this.#rows.values()]
    this.#rows.clear()
    for (const { dimensions, sums } of previousRows) this.add({ dimensions: { ...dimensions, [dimension]: '' }, sums })
    return true
  }

  /** Clears a row's dropped dimensions, as `add` requires. */
  dropDimensions(row: TotalsRow): TotalsRow {
    if (this.droppedCount === 0) return row
    const dimensions = { ...row.dimensions }
    for (const dimension of DROPPABLE_DIMENSIONS.slice(0, this.droppedCount)) dimensions[dimension] = ''
    return { dimensions, sums: row.sums }
  }
}

/** Decodes a stored value, or returns `undefined` if it is damaged. */
export const decodeTotals = (text: string): Totals | undefined => readTotals(tryParseJson(text))

/** Reads the parsed JSON of encoded totals, or returns `undefined` if they are damaged. */
export function readTotals(storedTotals: unknown): Totals | undefined {
  if (
    !isObject(storedTotals) ||
    !Array.isArray(storedTotals.texts) ||
    !Array.isArray(storedTotals.rows) ||
    !isObject(storedTotals.through)
  )
    return undefined
  const { through, leftOut, texts, rows } = storedTotals as unknown as StoredTotals // only `encode` writes such values
  const totals = new Totals()
  totals.through = through
  totals.droppedCount = leftOut
  for (const row of rows) totals.add(parseRow(row, texts))
  return totals
}

function parseRow(row: StoredRow, texts: readonly string[]): TotalsRow {
  const [keyId, groupId, model, provider, targetModel, connectionId, user, requests, failed, rejected, unpriced] = row
  const { 11: input, 12: output, 13: cacheRead, 14: cacheWrite, 15: reasoning, 16: nano } = row
  const { 17: units = {}, 18: durationMs, 19: firstByteMs, 20: media, 21: account = 0, 22: cacheSavedNano = 0 } = row
  const getText = (index: number) => texts[index - 1] ?? ''
  return {
    dimensions: {
      keyId: getText(keyId),
      groupId: getText(groupId),
      model: getText(model),
      provider: getText(provider),
      targetModel: getText(targetModel),
      connectionId: getText(connectionId),
      user: getText(user),
      account: getText(account),
    },
    sums: {
      requests,
      failed,
      refused: rejected,
      unpriced,
      tokens: addOptionalCounts({ input, output, cacheRead, cacheWrite, reasoning }, media),
      units,
      nano,
      cacheSavedNano,
      durationMs: durationMs ? new Histogram(durationMs) : undefined,
      firstByteMs: firstByteMs ? new Histogram(firstByteMs) : undefined,
    },
  }
}
