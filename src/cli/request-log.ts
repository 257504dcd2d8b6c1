import type { Hooks } from '../pipeline/observer.ts'
import type { RequestRecord } from '../pipeline/report.ts'
import { targetName } from '../providers/target.ts'
import type { UsageRecord } from '../usage/record.ts'
import { oneLine } from './one-line.ts'

/**
 * Hooks that write one line for each model request: time, status, model, the targets that were tried, duration and tokens. Usage is
 * told right before the request that it belongs to.
 */
export function requestLog(write: (line: string) => void): Hooks {
  let usage: UsageRecord | undefined
  return {
    onUsage: (record) => {
      usage = record
    },
    onRequest: (request) => {
      const own = usage?.startedAt === request.startedAt && usage.requestedModel === request.model ? usage : undefined
      usage = undefined
      write(`${oneLine(lineOf(request, own))}\n`)
    },
  }
}

function lineOf(
  { startedAt, durationMs, status, model, path, streamed, attempts }: RequestRecord,
  usage?: UsageRecord,
) {
  const way = attempts.map((attempt) => `${targetName(attempt)} ${attempt.status}`).join(', ')
  const parts = [
    new Date(startedAt).toISOString(),
    String(status),
    model === undefined ? path : JSON.stringify(model.slice(0, MAX_MODEL)),
    ...(way ? [`-> ${way}`] : []),
    `(${durationMs} ms${streamed ? ', streamed' : ''}${tokensOf(usage)})`,
  ]
  return parts.join(' ')
}

/** Clients choose the name freely. */
const MAX_MODEL = 120

function tokensOf({ inputTokens, outputTokens }: Partial<UsageRecord> = {}): string {
  return inputTokens === undefined || outputTokens === undefined
    ? ''
    : `, ${inputTokens} tokens in, ${outputTokens} out`
}
