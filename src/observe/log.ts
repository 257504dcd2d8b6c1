import type { GatewayObserver, ObservedRequest } from '../pipeline/observing.ts'
import type { AttemptRecord, RequestRecord } from '../pipeline/records.ts'
import { targetName } from '../providers/target.ts'
import { operationName } from './meanings.ts'

/**
 * Writes one line of JSON for each model request when it is over, refused ones too, of at most 4 KiB: the id of the key, the requested model, each
 * attempt, tokens, cost and how the request ended. It holds no prompt, no answer, no header, no credential, and no message of a provider, which may
 * quote any of them. `write` gets the line with its newline; a promise that it returns is waited for by `close`.
 */
export function jsonLog(write: (line: string) => unknown): GatewayObserver {
  return {
    request(request) {
      let firstMs: number | undefined
      return {
        attempt: ({ startedAt }) => ({
          begun(afterMs) {
            firstMs ??= startedAt - request.startedAt + afterMs
          },
        }),
        ended: (record) => write(`${logLine(request, record, firstMs)}\n`),
      }
    },
  }
}

/** In bytes of UTF-8, without the newline. */
const MAX_LINE = 4_096

function logLine(request: ObservedRequest, record: RequestRecord, firstMs: number | undefined): string {
  const { attempts, warnings, skipped, usage } = record
  const line = {
    ts: new Date(record.startedAt + record.durationMs).toISOString(),
    level: levelOf(record),
    msg: 'request',
    id: record.id,
    route: request.route,
    op: operationName(request.operation),
    format: request.format,
    key: record.keyId,
    group: record.groupId,
    asked: record.model?.slice(0, MAX_TEXT),
    target: answeredBy(attempts),
    status: record.status,
    end: record.end,
    error: record.error,
    stream: record.streamed,
    ms: record.durationMs,
    first_ms: firstMs,
    attempts: attempts.map(({ status, outcome, durationMs, ...target }) => ({
      t: targetName(target).slice(0, MAX_TEXT),
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
    warnings: warnings?.map((warning) => warning.slice(0, MAX_TEXT)),
  }
  const text = jsonLine(line)
  if (isShort(text)) return text
  const { attempts: all, warnings: lost = [], ...rest } = line
  const shorter = jsonLine({
    ...rest,
    attempts: all.slice(-MAX_LISTED),
    left_out: all.length + lost.length - MAX_LISTED,
  })
  return isShort(shorter) ? shorter : jsonLine({ ...rest, left_out: all.length + lost.length })
}

const MAX_TEXT = 200
const MAX_LISTED = 5

/** Control characters, which terminals obey, are escaped: JSON leaves those above U+007F and line separators as they are. */
function jsonLine(value: object): string {
  const text = JSON.stringify(value)
  if (/^[ -~]*$/.test(text)) return text
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (found) =>
    [...Array(found.length).keys()].map((at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''),
  )
}

/** No character takes more than three bytes for each of its UTF-16 units. */
const isShort = (text: string) => text.length * 3 <= MAX_LINE || new TextEncoder().encode(text).length <= MAX_LINE

function levelOf({ status, end, error }: RequestRecord): 'info' | 'warn' | 'error' {
  if (error === 'INTERNAL') return 'error'
  return status >= 400 || end === 'cut' ? 'warn' : 'info'
}

const answeredBy = (attempts: readonly AttemptRecord[]) => {
  const answered = attempts.findLast(({ outcome }) => outcome === 'answered')
  return answered && targetName(answered).slice(0, MAX_TEXT)
}
