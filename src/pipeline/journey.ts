import { encodeUtf8 } from '../lib/bytes.ts'
import { toHex } from '../lib/encoding.ts'
import { targetName } from '../providers/target.ts'
import type { RouteTarget } from '../routing/table.ts'
import type { FailureClass } from './failure.ts'

/** One attempt, as hooks and the answer's headers tell it. */
export interface AttemptRecord {
  provider: string
  connectionId: string
  model: string
  /** Epoch ms. */
  startedAt: number
  durationMs: number
  outcome: 'answered' | 'cancelled' | FailureClass
  status: number
  /** What the provider said, when it failed. */
  message?: string
}

export function attemptRecord(
  target: RouteTarget,
  times: { startedAt: number; now: number },
  result: Pick<AttemptRecord, 'outcome' | 'status' | 'message'>,
): AttemptRecord {
  const { provider, connection, model } = target
  const { startedAt, now } = times
  return Object.assign(result, { provider, connectionId: connection.id, model, startedAt, durationMs: now - startedAt })
}

/** `x-signalbox-target` and `x-signalbox-attempts`: who answered, and `<provider>/<model>=<status>` for each attempt in order. */
export function journeyHeaders(attempts: readonly AttemptRecord[]): Record<string, string> {
  const headers: Record<string, string> = {}
  const answered = attempts.find((attempt) => attempt.outcome === 'answered')
  if (answered) headers['x-signalbox-target'] = headerSafe(targetName(answered))
  if (attempts.length > 0)
    headers['x-signalbox-attempts'] = attempts
      .map((attempt) => headerSafe(`${targetName(attempt)}=${result(attempt)}`))
      .join(', ')
  return headers
}

const result = ({ outcome, status }: AttemptRecord) => (outcome === 'answered' ? `${status}` : `${status}:${outcome}`)

/** Clients refuse answers whose headers are too large together. */
const MAX_SHOWN = 300

/** Header values are printable ASCII; anything else, and the list's own separators, are percent-encoded. */
function headerSafe(text: string): string {
  const shown = text.slice(0, MAX_SHOWN)
  return /^[\x21-\x2b\x2d-\x7e]*$/.test(shown) ? shown : shown.replace(/[^\x21-\x2b\x2d-\x7e]/gu, percentEncoded)
}

const percentEncoded = (character: string) =>
  toHex(encodeUtf8(character)).replace(/../g, (byte) => `%${byte.toUpperCase()}`)
