import { getTargetName } from '../../protocols/providers/target.ts'
import type { AttemptRecord, RequestRecord } from '../../request/hook-records.ts'
import { getOperationName, getSentStatus } from './meanings.ts'
import type { GatewayObserver, ObservedRequest } from './observer.ts'

/**
 * Writes one JSON line of up to 4 KiB per finished model request, including rejected ones: its key ID, model, attempts, tokens, cost, and result.
 * Lines never contain prompts, responses, headers, credentials, or provider messages, which may quote any of these. `write` gets the line with a
 * newline. `close` awaits the promise that `write` returns, if any.
 */
export function jsonLog(write: (line: string) => unknown): GatewayObserver {
  return {
    request(request) {
      let firstContentMs: number | undefined
      return {
        attempt: ({ startedAt }) => ({
          begun(afterMs) {
            firstContentMs ??= startedAt - request.startedAt + afterMs
          },
        }),
        ended: (record) => write(`${formatLine(request, record, firstContentMs)}\n`),
      }
    },
  }
}

/** Maximum length of a line, in UTF-8 bytes without the newline. */
const MAX_LINE_BYTES = 4_096

function formatLine(request: ObservedRequest, record: RequestRecord, firstContentMs: number | undefined): string {
  const { attempts, warnings, skipped, usage } = record
  const line = {
    ts: new Date(record.startedAt + record.durationMs).toISOString(),
    level: getLevel(record),
    msg: 'request',
    id: record.id,
    route: request.route,
    op: getOperationName(request.operation),
    format: request.kind && request.format,
    key: record.keyId,
    group: record.groupId,
    account: record.accountRef,
    asked: record.model?.slice(0, MAX_TEXT_LENGTH),
    target: getRespondingTarget(attempts),
    status: getSentStatus(record),
    end: record.end,
    error: record.error,
    stream: record.streamed,
    ms: record.durationMs,
    first_ms: firstContentMs,
    attempts: attempts.map(({ status, outcome, durationMs, ...target }) => ({
      t: getTargetName(target).slice(0, MAX_TEXT_LENGTH),
      status,
      ...(outcome !== 'answered' && { why: outcome }),
      ms: durationMs,
    })),
    skipped: skipped?.length,
    in: usage?.inputTokens,
    out: usage?.outputTokens,
    cache_read: usage?.cacheReadTokens,
    cache_write: usage?.cacheWriteTokens,
    reasoning: usage?.reasoningTokens,
    cost_usd: record.costUsd,
    warnings: warnings?.map((warning) => warning.slice(0, MAX_TEXT_LENGTH)),
  }
  const text = toJson(line)
  if (fitsLine(text)) return text
  const { attempts: allAttempts, warnings: truncated = [], ...otherFields } = line
  const shortenedLine = toJson({
    ...otherFields,
    attempts: allAttempts.slice(-MAX_LISTED_ITEMS),
    left_out: allAttempts.length + truncated.length - MAX_LISTED_ITEMS,
  })
  return fitsLine(shortenedLine)
    ? shortenedLine
    : toJson({ ...otherFields, left_out: allAttempts.length + truncated.length })
}

const MAX_TEXT_LENGTH = 200
const MAX_LISTED_ITEMS = 5

/**
 * Escapes control characters, because terminals interpret them. `JSON.stringify` doesn't escape line separators or control characters above U+007F.
 */
function toJson(value: object): string {
  const text = JSON.stringify(value)
  if (/^[ -~]*$/.test(text)) return text
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (match) =>
    [...Array(match.length).keys()]
      .map((index) => `\\u${match.charCodeAt(index).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}

/** Returns whether a line is short enough. Encodes only long lines, because a UTF-16 code unit takes at most three bytes. */
const fitsLine = (text: string) =>
  text.length * 3 <= MAX_LINE_BYTES || new TextEncoder().encode(text).length <= MAX_LINE_BYTES

function getLevel(record: RequestRecord): 'info' | 'warn' | 'error' {
  if (record.error === 'INTERNAL') return 'error'
  return getSentStatus(record) >= 400 || record.end === 'cut' ? 'warn' : 'info'
}

const getRespondingTarget = (attempts: readonly AttemptRecord[]) => {
  const respondingAttempt = attempts.findLast(({ outcome }) => outcome === 'answered')
  return respondingAttempt && getTargetName(respondingAttempt).slice(0, MAX_TEXT_LENGTH)
}
