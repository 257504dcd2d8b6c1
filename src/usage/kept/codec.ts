import { isObject, tryParseJson } from '../../lib/json.ts'
import { nanoOf, usdOf } from '../../lib/usd.ts'
import type { ClientFormat, PricedUnit } from '../../types.ts'
import {
  addMedia,
  type KeptAttempt,
  type KeptEnd,
  type KeptRequest,
  type KeptSkip,
  mediaCounts,
  NO_TOKENS,
  SOURCES,
  type Spent,
  spentBy,
  timeOfId,
} from './record.ts'

/*
 * How requests are written: as rows of numbers, in which a text is its place in a table that all rows of a value share. A row is a fifth as long
 * as the record as JSON, and is read five times as fast.
 */

/** The texts of one value. The place 0 stands for no text. */
export class TextTable {
  readonly texts: string[] = []
  readonly #places = new Map<string, number>()

  placeOf(text: string | undefined): number {
    if (text === undefined) return 0
    const known = this.#places.get(text)
    if (known !== undefined) return known
    const place = this.texts.push(text)
    this.#places.set(text, place)
    return place
  }
}

/** Where nothing is known of a number. */
const UNKNOWN = -1

type AttemptRow = [
  provider: number,
  model: number,
  connectionId: number,
  outcome: number,
  status: number,
  startMs: number,
  durationMs: number,
  message: number,
  /** Absent when nothing was spent. */
  spent?: SpentRow,
]
type SpentRow = [
  nano: number,
  source: number,
  hasTokens: 0 | 1,
  input: number,
  output: number,
  cacheRead: number,
  cacheWrite: number,
  reasoning: number,
  /** `null`: none, but tokens of images and sound follow. */
  units?: Record<string, number> | null,
  media?: number[],
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
  /** The place of the target among the attempts. */
  target: number,
  attempts: AttemptRow[],
  skipped: SkipRow[],
  warnings: number[],
]

/** Where a row has the key. */
const KEY_ID = 4

/** A value that holds requests. */
interface StoredRequests {
  /** When it was written, epoch ms. */
  at: number
  texts: string[]
  rows: RequestRow[]
}

/** The text of a value with these requests; `at`: when it is written, epoch ms. */
export function encodeRequests(requests: readonly KeptRequest[], at: number): string {
  const table = new TextTable()
  const rows = requests.map((request) => rowOf(request, table))
  return JSON.stringify({ at, texts: table.texts, rows } satisfies StoredRequests)
}

/** The requests of a value, or those of one key alone, which is faster; `undefined` when it is damaged. The empty text stands for no key. */
export function decodeRequests(text: string, keyId?: string): { at: number; requests: KeptRequest[] } | undefined {
  if (keyId && !text.includes(JSON.stringify(keyId))) return { at: 0, requests: [] }
  const stored = tryParseJson(text)
  if (!isObject(stored) || !Array.isArray(stored.texts) || !Array.isArray(stored.rows)) return undefined
  const { at, texts, rows } = stored as unknown as StoredRequests // only `encodeRequests` writes such values
  try {
    const place = keyId ? texts.indexOf(keyId) + 1 : keyId === '' ? 0 : undefined
    const meant = place === undefined ? rows : rows.filter((row) => row[KEY_ID] === place)
    return { at, requests: meant.map((row) => requestOf(row, texts)) }
  } catch {
    return undefined
  }
}

function rowOf(request: KeptRequest, table: TextTable): RequestRow {
  const { metadata, target, attempts, skipped = [], warnings = [] } = request
  const place = (text: string | undefined) => table.placeOf(text)
  return [
    request.id,
    place(request.endpoint),
    place(request.format),
    place(request.model),
    place(request.keyId),
    place(request.groupId),
    place(metadata && JSON.stringify(metadata)),
    place(request.user),
    place(request.end),
    place(request.error),
    place(request.reason),
    request.streamed ? 1 : 0,
    request.status,
    Math.round(request.durationMs),
    request.firstByteMs === undefined ? UNKNOWN : Math.round(request.firstByteMs),
    target ? attempts.findLastIndex((one) => isAt(one, target)) : UNKNOWN,
    attempts.map((attempt) => attemptRow(attempt, table)),
    skipped.map((skip) =>
      'entry' in skip
        ? [place(skip.skipped), place(skip.entry)]
        : [place(skip.skipped), place(skip.provider), place(skip.model), place(skip.connectionId)],
    ),
    warnings.map(place),
  ]
}

const isAt = (one: KeptAttempt, { provider, model, connectionId }: NonNullable<KeptRequest['target']>) =>
  one.connectionId === connectionId && one.model === model && one.provider === provider

function attemptRow(attempt: KeptAttempt, table: TextTable): AttemptRow {
  const row: AttemptRow = [
    table.placeOf(attempt.provider),
    table.placeOf(attempt.model),
    table.placeOf(attempt.connectionId),
    table.placeOf(attempt.outcome),
    attempt.status,
    Math.round(attempt.startMs),
    Math.round(attempt.durationMs),
    table.placeOf(attempt.message),
  ]
  const { tokens, units, costUsd, costSource } = attempt
  if (!tokens && !units) return row
  const { input, output, cacheRead, cacheWrite, reasoning } = tokens ?? NO_TOKENS
  const nano = costUsd === undefined ? UNKNOWN : nanoOf(costUsd)
  const source = costSource ? SOURCES.indexOf(costSource) : UNKNOWN
  const spent: SpentRow = [nano, source, tokens ? 1 : 0, input, output, cacheRead, cacheWrite, reasoning]
  const media = tokens && mediaCounts(tokens)
  if (media) spent.push(units ?? null, media)
  else if (units) spent.push(units)
  row.push(spent)
  return row
}

function requestOf(row: RequestRow, texts: readonly string[]): KeptRequest {
  const [id, endpoint, format, model, keyId, groupId, metadata, user, end, error, reason, ...others] = row
  const [streamed, status, durationMs, firstByteMs, target, attemptRows, skipped, warnings] = others
  const attempts = attemptRows.map((attempt) => attemptOf(attempt, texts))
  const answering = attempts[target]
  const text = (place: number) => texts[place - 1]
  const request: KeptRequest = {
    id,
    time: new Date(timeOfId(id)).toISOString(),
    endpoint: text(endpoint) ?? '',
    format: text(format) as ClientFormat, // as `rowOf` wrote it
    streamed: streamed === 1,
    attempts,
    durationMs,
    status,
    end: text(end) as KeptEnd, // likewise
    ...spentBy(attempts),
  }
  if (keyId) request.keyId = text(keyId) ?? ''
  if (groupId) request.groupId = text(groupId) ?? ''
  if (metadata) request.metadata = JSON.parse(text(metadata) ?? '{}')
  if (user) request.user = text(user) ?? ''
  if (model) request.model = text(model) ?? ''
  if (answering) {
    const { provider, model: name, connectionId } = answering
    request.target = { provider, model: name, connectionId }
  }
  if (skipped.length > 0) request.skipped = skipped.map((skip) => skipOf(skip, text))
  if (firstByteMs !== UNKNOWN) request.firstByteMs = firstByteMs
  if (error) request.error = text(error) ?? ''
  if (reason) request.reason = text(reason) ?? ''
  if (warnings.length > 0) request.warnings = warnings.map((place) => text(place) ?? '')
  return request
}

function attemptOf(row: AttemptRow, texts: readonly string[]): KeptAttempt {
  const [provider, model, connectionId, outcome, status, startMs, durationMs, message, spent] = row
  const attempt: KeptAttempt = {
    provider: texts[provider - 1] ?? '',
    model: texts[model - 1] ?? '',
    connectionId: texts[connectionId - 1] ?? '',
    outcome: texts[outcome - 1] ?? '',
    status,
    startMs,
    durationMs,
  }
  if (message) attempt.message = texts[message - 1] ?? ''
  return spent ? Object.assign(attempt, spentOf(spent)) : attempt
}

function spentOf(row: SpentRow): Spent {
  const [nano, source, hasTokens, input, output, cacheRead, cacheWrite, reasoning, units, media] = row
  const spent: Spent = {}
  if (hasTokens) spent.tokens = addMedia({ input, output, cacheRead, cacheWrite, reasoning }, media)
  if (units) spent.units = units as Partial<Record<PricedUnit, number>> // as `attemptRow` wrote them
  if (nano !== UNKNOWN) spent.costUsd = usdOf(nano)
  const costSource = SOURCES[source]
  if (costSource) spent.costSource = costSource
  return spent
}

function skipOf(
  [why, entryOrProvider, model, connectionId]: SkipRow,
  text: (place: number) => string | undefined,
): KeptSkip {
  const skipped = text(why) ?? ''
  const first = text(entryOrProvider) ?? ''
  if (model === undefined || connectionId === undefined) return { entry: first, skipped }
  return { provider: first, model: text(model) ?? '', connectionId: text(connectionId) ?? '', skipped }
}
