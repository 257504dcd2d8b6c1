import { isObject, tryParseJson } from '../../lib/json.ts'
import { getRequestTime } from '../../lib/request-id.ts'
import { fromNanoUsd, toNanoUsd } from '../../lib/usd.ts'
import type { PromptCacheRecord, ServedBy } from '../../request/hook-records.ts'
import type { ClientFormat, PricedUnit, PriceOrigin } from '../../types.ts'
import {
  addOptionalCounts,
  listOptionalCounts,
  NO_TOKENS,
  SOURCES_BY_UNCERTAINTY,
  type StoredAttempt,
  type StoredEnd,
  type StoredRequest,
  type StoredSkip,
  sumUsageCosts,
  type UsageCost,
} from './request-record.ts'

/*
 * The storage format of requests. A value consists of rows of numbers, in which strings are indexes into a table that all of the value's rows share.
 * A row is a fifth the size of the record's JSON and decodes five times faster.
 */

/** The strings in a value. Indexes start at 1; 0 means no string. */
export class StringTable {
  readonly texts: string[] = []
  /** The strings' total length, in characters. */
  size = 0
  readonly #indexes = new Map<string, number>()
  /** The round that last used each string, by position in `texts`. */
  readonly #lastUses: number[] = []
  #round = 0

  getIndex(text: string | undefined): number {
    if (text === undefined) return 0
    const index = this.#indexes.get(text) ?? this.#add(text)
    this.#lastUses[index - 1] = this.#round
    return index
  }

  #add(text: string): number {
    const index = this.texts.push(text)
    this.#indexes.set(text, index)
    this.size += text.length
    return index
  }

  /** Returns the strings at their indexes, with 0 in place of those that haven't been used since the last call. */
  takeUsedTexts(): Array<string | 0> {
    const usedTexts = this.texts.map((text, index) => (this.#lastUses[index] === this.#round ? text : 0))
    this.#round++
    return usedTexts
  }
}

const UNKNOWN_INDEX = -1

type AttemptRow = [
  provider: number,
  model: number,
  connectionId: number,
  outcome: number,
  status: number,
  startMs: number,
  durationMs: number,
  message: number,
  /** Absent if the attempt has no usage. */
  spent?: UsageCostRow,
]
type UsageCostRow = [
  nano: number,
  source: number,
  hasTokens: 0 | 1,
  input: number,
  output: number,
  cacheRead: number,
  cacheWrite: number,
  reasoning: number,
  /** `null` if there are no units but other fields follow. */
  units?: Record<string, number> | null,
  optionalCounts?: number[],
  /** The price's source (`encodePriceOrigin`). */
  price?: number,
]
type SkipRow = [skipped: number, entryOrProvider: number, model?: number, connectionId?: number]
type RequestRow = [
  id: string,
  endpoint: number,
  format: number,
  model: number,
  keyId: number,
  groupId: number,
  metadata: number,
  user: number,
  end: number,
  error: number,
  reason: number,
  streamed: 0 | 1,
  status: number,
  durationMs: number,
  firstByteMs: number,
  /** The target's index among the attempts. */
  target: number,
  attempts: AttemptRow[],
  skipped: SkipRow[],
  warnings: number[],
  /** Absent (or 0 if another field follows) for the default server. */
  servedBy?: number,
  /** Absent without an account. */
  account?: number,
  tokenId?: number,
  tags?: number[],
  /** `guards`, `guardUsd`, and `chargedUsd` as JSON. Absent (or 0 if another field follows) if there are none. */
  rareFields?: number,
  /** Absent without `promptCaching: 'auto'`. */
  promptCache?: PromptCacheRecord,
]

const KEY_ID_INDEX = 4

/** Rows and their strings. A stored value also has its write time, `at`. */
interface StoredRows {
  /** Contains 0 in place of strings that no row uses. */
  texts: Array<string | 0>
  rows: RequestRow[]
}

/** Encodes a request as a row. */
export const encodeRow = (request: StoredRequest, table: StringTable): string =>
  JSON.stringify(toRequestRow(request, table))

/** Joins encoded rows and their strings into a value. `time` is the write time in epoch ms. */
export const encodeRows = (texts: ReadonlyArray<string | 0>, rows: readonly string[], time?: number): string =>
  `{${time === undefined ? '' : `"at":${time},`}"texts":${JSON.stringify(texts)},"rows":[${rows.join(',')}]}`

/** Encodes requests as a stored value. `time` is the write time in epoch ms. */
export function encodeRequests(requests: readonly StoredRequest[], time: number): string {
  const table = new StringTable()
  const rows = requests.map((request) => encodeRow(request, table))
  return encodeRows(table.texts, rows, time)
}

/**
 * Decodes the requests in a stored value, or only one key's, which is faster. Returns `undefined` if the value is damaged. An empty key ID selects
 * requests without a key.
 */
export function decodeRequests(text: string, keyId?: string): StoredRequest[] | undefined {
  return keyId ? decodeRequestsOfKey(text, keyId) : readRows(tryParseJson(text), keyId)
}

const ROWS_SEPARATOR = '],"rows":['

/**
 * Parses only one key's rows. Rows contain no strings except IDs, so `,["` always starts a row. Every quotation mark in the strings that precede the
 * rows is escaped.
 */
function decodeRequestsOfKey(text: string, keyId: string): StoredRequest[] | undefined {
  if (!text.includes(JSON.stringify(keyId))) return []
  const textsEnd = text.indexOf(ROWS_SEPARATOR)
  const texts = tryParseJson(text.slice(text.indexOf('"texts":') + '"texts":'.length, textsEnd + 1))
  if (textsEnd < 0 || !Array.isArray(texts)) return undefined
  const index = texts.indexOf(keyId) + 1
  if (index === 0) return []
  const rows: string[] = []
  for (let position = textsEnd + ROWS_SEPARATOR.length; ; ) {
    const nextRowStart = text.indexOf(',["', position)
    let fieldStart = position
    for (let nth = 0; nth < KEY_ID_INDEX; nth++) fieldStart = text.indexOf(',', fieldStart) + 1
    if (text.startsWith(`${index},`, fieldStart))
      rows.push(text.slice(position, nextRowStart < 0 ? text.lastIndexOf(']}') : nextRowStart))
    if (nextRowStart < 0) break
    position = nextRowStart + 1
  }
  return readRows({ texts, rows: tryParseJson(`[${rows.join(',')}]`) })
}

/** Like `decodeRequests`, for parsed JSON written by `encodeRows`. */
export function readRows(storedRows: unknown, keyId?: string): StoredRequest[] | undefined {
  if (!isObject(storedRows) || !Array.isArray(storedRows.texts) || !Array.isArray(storedRows.rows)) return undefined
  const { texts, rows } = storedRows as unknown as StoredRows // only `encodeRows` writes such values
  try {
    const index = keyId ? texts.indexOf(keyId) + 1 : keyId === '' ? 0 : undefined
    if (keyId && index === 0) return []
    const keyRows = index === undefined ? rows : rows.filter((row) => row[KEY_ID_INDEX] === index)
    return keyRows.map((row) => parseRequestRow(row, texts as string[])) // rows only use indexes of existing strings
  } catch {
    return undefined
  }
}

function toRequestRow(request: StoredRequest, table: StringTable): RequestRow {
  const { metadata, target, attempts, skipped = [], warnings = [] } = request
  const getIndex = (text: string | undefined) => table.getIndex(text)
  const row: RequestRow = [
    request.id,
    getIndex(request.endpoint),
    getIndex(request.format),
    getIndex(request.model),
    getIndex(request.keyId),
    getIndex(request.groupId),
    getIndex(metadata && JSON.stringify(metadata)),
    getIndex(request.user),
    getIndex(request.end),
    getIndex(request.error),
    getIndex(request.reason),
    request.streamed ? 1 : 0,
    request.status,
    Math.round(request.durationMs),
    request.firstByteMs === undefined ? UNKNOWN_INDEX : Math.round(request.firstByteMs),
    target ? attempts.findLastIndex((attempt) => hasTarget(attempt, target)) : UNKNOWN_INDEX,
    attempts.map((attempt) => toAttemptRow(attempt, table)),
    skipped.map((skip) =>
      'entry' in skip
        ? [getIndex(skip.skipped), getIndex(skip.entry)]
        : [getIndex(skip.skipped), getIndex(skip.provider), getIndex(skip.model), getIndex(skip.connectionId)],
    ),
    warnings.map(getIndex),
  ]
  const { servedBy, account, tokenId, tags = [], guards, guardUsd, chargedUsd, promptCache } = request
  const hasRareFields = guards !== undefined || chargedUsd !== undefined
  const rareText = hasRareFields ? JSON.stringify({ guards, guardUsd, chargedUsd }) : undefined
  const ownerFields = [getIndex(servedBy), getIndex(account), getIndex(tokenId), tags.map(getIndex)] as const
  if (promptCache) row.push(...ownerFields, getIndex(rareText), promptCache)
  else if (rareText) row.push(...ownerFields, getIndex(rareText))
  else if (account !== undefined) row.push(...ownerFields)
  else if (servedBy) row.push(getIndex(servedBy))
  return row
}

const hasTarget = (attempt: StoredAttempt, { provider, model, connectionId }: NonNullable<StoredRequest['target']>) =>
  attempt.connectionId === connectionId && attempt.model === model && attempt.provider === provider

function toAttemptRow(attempt: StoredAttempt, table: StringTable): AttemptRow {
  const row: AttemptRow = [
    table.getIndex(attempt.provider),
    table.getIndex(attempt.model),
    table.getIndex(attempt.connectionId),
    table.getIndex(attempt.outcome),
    attempt.status,
    Math.round(attempt.startMs),
    Math.round(attempt.durationMs),
    table.getIndex(attempt.message),
  ]
  const { tokens, units, costUsd, costSource } = attempt
  if (!tokens && !units) return row
  const { input, output, cacheRead, cacheWrite, reasoning } = tokens ?? NO_TOKENS
  const nano = costUsd === undefined ? UNKNOWN_INDEX : toNanoUsd(costUsd)
  const source = costSource ? SOURCES_BY_UNCERTAINTY.indexOf(costSource) : UNKNOWN_INDEX
  const costRow: UsageCostRow = [nano, source, tokens ? 1 : 0, input, output, cacheRead, cacheWrite, reasoning]
  const counts = tokens && listOptionalCounts(tokens)
  if (attempt.price) costRow.push(units ?? null, counts ?? [], table.getIndex(encodePriceOrigin(attempt.price)))
  else if (counts) costRow.push(units ?? null, counts)
  else if (units) costRow.push(units)
  row.push(costRow)
  return row
}

function parseRequestRow(row: RequestRow, texts: readonly string[]): StoredRequest {
  const [id, endpoint, format, model, keyId, groupId, metadata, user, end, error, reason, ...rest] = row
  const [streamed, status, durationMs, firstByteMs, target, attemptRows, skipped, warnings, ...last] = rest
  const [servedBy, account, tokenId, tags = [], rareFields, promptCache] = last
  const attempts = attemptRows.map((attempt) => parseAttemptRow(attempt, texts))
  const targetAttempt = attempts[target]
  const getText = (index: number) => texts[index - 1]
  const request: StoredRequest = {
    id,
    time: new Date(getRequestTime(id)).toISOString(),
    endpoint: getText(endpoint) ?? '',
    ...(format && { format: getText(format) as ClientFormat }), // written by `toRequestRow`
    streamed: streamed === 1,
    attempts,
    durationMs,
    status,
    end: getText(end) as StoredEnd, // written by `toRequestRow`
    ...sumUsageCosts(attempts),
  }
  if (keyId) request.keyId = getText(keyId) ?? ''
  if (groupId) request.groupId = getText(groupId) ?? ''
  if (account) request.account = getText(account) ?? ''
  if (tokenId) request.tokenId = getText(tokenId) ?? ''
  if (tags.length > 0) request.tags = tags.map((index) => getText(index) ?? '')
  if (metadata) request.metadata = JSON.parse(getText(metadata) ?? '{}')
  if (user) request.user = getText(user) ?? ''
  if (model) request.model = getText(model) ?? ''
  if (targetAttempt) {
    const { provider, model: modelName, connectionId } = targetAttempt
    request.target = { provider, model: modelName, connectionId }
  }
  if (skipped.length > 0) request.skipped = skipped.map((skip) => parseSkipRow(skip, getText))
  if (firstByteMs !== UNKNOWN_INDEX) request.firstByteMs = firstByteMs
  if (promptCache) request.promptCache = promptCache
  if (servedBy) request.servedBy = getText(servedBy) as ServedBy // written by `toRequestRow`
  if (error) request.error = getText(error) ?? ''
  if (reason) request.reason = getText(reason) ?? ''
  if (rareFields) Object.assign(request, JSON.parse(getText(rareFields) ?? '{}'))
  if (request.chargedUsd !== undefined) request.costUsd = request.chargedUsd
  if (warnings.length > 0) request.warnings = warnings.map((index) => getText(index) ?? '')
  return request
}

function parseAttemptRow(row: AttemptRow, texts: readonly string[]): StoredAttempt {
  const [provider, model, connectionId, outcome, status, startMs, durationMs, message, costRow] = row
  const attempt: StoredAttempt = {
    provider: texts[provider - 1] ?? '',
    model: texts[model - 1] ?? '',
    connectionId: texts[connectionId - 1] ?? '',
    outcome: texts[outcome - 1] ?? '',
    status,
    startMs,
    durationMs,
  }
  if (message) attempt.message = texts[message - 1] ?? ''
  if (!costRow) return attempt
  const price = decodePriceOrigin(texts[(costRow[10] ?? 0) - 1], `${attempt.provider}/${attempt.model}`)
  return Object.assign(attempt, parseUsageCost(costRow), price && { price })
}

/** Encodes a price's source and date in a few characters. Omits the model, because it is the attempt's. */
const encodePriceOrigin = ({ by, asOf = '' }: PriceOrigin): string => `${by}:${asOf}`

function decodePriceOrigin(text: string | undefined, model: string): PriceOrigin | undefined {
  const [service, asOf] = text?.split(':') ?? []
  return service ? { by: service as PriceOrigin['by'], of: model, ...(asOf && { asOf }) } : undefined // written by `encodePriceOrigin`
}

function parseUsageCost(row: UsageCostRow): UsageCost {
  const [nano, source, hasTokens, input, output, cacheRead, cacheWrite, reasoning, units, counts] = row
  const usageCost: UsageCost = {}
  if (hasTokens) usageCost.tokens = addOptionalCounts({ input, output, cacheRead, cacheWrite, reasoning }, counts)
  if (units) usageCost.units = units as Partial<Record<PricedUnit, number>> // written by `toAttemptRow`
  if (nano !== UNKNOWN_INDEX) usageCost.costUsd = fromNanoUsd(nano)
  const costSource = SOURCES_BY_UNCERTAINTY[source]
  if (costSource) usageCost.costSource = costSource
  return usageCost
}

function parseSkipRow(
  [reason, entryOrProvider, model, connectionId]: SkipRow,
  getText: (index: number) => string | undefined,
): StoredSkip {
  const skipped = getText(reason) ?? ''
  const entryOrProviderText = getText(entryOrProvider) ?? ''
  if (model === undefined || connectionId === undefined) return { entry: entryOrProviderText, skipped }
  return {
    provider: entryOrProviderText,
    model: getText(model) ?? '',
    connectionId: getText(connectionId) ?? '',
    skipped,
  }
}
