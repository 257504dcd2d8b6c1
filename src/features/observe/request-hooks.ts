import type { UsageRecord } from '../../pricing/usage-record.ts'
import type { AttemptRecord, RequestRecord } from '../../request/hook-records.ts'
import type { RequestListener } from '../../request/request-events.ts'
import type { RequestLog } from '../../request/request-log.ts'

/** Your hooks for request events, as in `Hooks`. */
interface RequestHooks {
  onRequest?(request: RequestRecord): unknown
  onAttempt?(attempt: AttemptRecord): unknown
  onUsage?(usage: UsageRecord): unknown
}

/** Creates a listener that calls the hooks. `call` handles their errors and rejections. */
export function createHookListener(
  hooks: RequestHooks,
  call: (hook: () => unknown, request: RequestLog) => void,
): RequestListener {
  const { onRequest, onAttempt, onUsage } = hooks
  return {
    ...(onAttempt && {
      responded: ({ record }, request) => record && call(() => onAttempt.call(hooks, record), request),
    }),
    ...((onRequest || onUsage) && {
      ended(request) {
        const usage = onUsage && createUsageRecord(request)
        if (usage) call(() => onUsage.call(hooks, usage), request)
        if (onRequest) call(() => onRequest.call(hooks, request.record), request)
      },
    }),
  }
}

/** Creates a usage record. Returns `undefined` if there was no successful response. */
function createUsageRecord(request: RequestLog): UsageRecord | undefined {
  const { target, caller, spending, ending } = request
  if (!target || !ending) return undefined
  const record: UsageRecord = {
    requestedModel: request.model ?? '',
    provider: target.provider,
    connectionId: target.connection.id,
    model: target.model,
    format: request.route.format,
    streamed: request.streamed,
    startedAt: request.startedAt,
    durationMs: ending.durationMs,
  }
  if (caller.key) record.keyId = caller.key.id
  if (caller.account) record.account = caller.account.id
  if (!spending) return record
  const { usage, ...cost } = spending
  return Object.assign(record, usage, cost)
}
