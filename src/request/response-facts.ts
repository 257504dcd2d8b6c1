import { calculateSpending } from '../pricing/cost.ts'
import { isBlankUsage } from '../protocols/formats/canonical/reported-usage.ts'
import type { CodecRequest } from './codec/codec.ts'
import { type AttemptRecord, formatTarget } from './hook-records.ts'
import type { RequestLog } from './request-log.ts'
import { getCallableName, type RouteTable } from './routing/route-table.ts'

/**
 * Describes a response, for formats that have fields for this: the request's ID, the target by a name that clients can request, earlier attempts, and
 * their total cost in US dollars, if every cost is known.
 */
export const createResponseDescriber =
  (log: Pick<RequestLog, 'id' | 'steps' | 'attempts'>, table: RouteTable): NonNullable<CodecRequest['describe']> =>
  (target) =>
  (usage) => {
    const name = formatTarget({ provider: getCallableName(target, table), model: target.model })
    const previousAttempts = log.steps.filter(
      (step): step is AttemptRecord => 'outcome' in step && step.outcome !== 'answered',
    )
    const isPreviousAttempt = log.attempts.every(({ record }) => record && record.outcome !== 'answered') // set if the response was only used because there was no better one
    const responseCostUsd =
      usage && !isBlankUsage(usage)
        ? calculateSpending(usage, { catalog: table.catalog, target, isEstimated: false }).costUsd
        : undefined
    const costs = [
      ...(isPreviousAttempt ? [] : [responseCostUsd]),
      ...previousAttempts.flatMap((step) => (step.usage ? [step.costUsd] : [])),
    ]
    const costUsd = costs.reduce((sum, cost) => (sum === undefined || cost === undefined ? undefined : sum + cost), 0)
    return {
      requestId: log.id,
      target: name,
      attempts: [
        ...previousAttempts.map((step) => ({ target: formatTarget(step), status: step.status, outcome: step.outcome })),
        ...(isPreviousAttempt ? [] : [{ target: name, status: 200, outcome: 'answered' }]),
      ],
      ...(costUsd !== undefined && { costUsd }),
    }
  }
