import type { AskedRequest } from '../codec/codec.ts'
import { askableName, type RouteTable } from '../routing/route-table.ts'
import { spendingOf } from '../usage/cost.ts'
import { type AttemptRecord, targetHeader } from './records.ts'
import type { RequestLog } from './request-log.ts'

/**
 * What answers say of themselves in formats that have a place for it: the id of the request, the target as a request can name it again, the
 * attempts before, and what all of them have cost, in US dollars, where that is known of each.
 */
export const describeAnswers =
  (log: Pick<RequestLog, 'id' | 'steps' | 'attempts'>, table: RouteTable): NonNullable<AskedRequest['describe']> =>
  (target) =>
  (usage) => {
    const name = targetHeader({ provider: askableName(target, table), model: target.model })
    const before = log.steps.filter((step): step is AttemptRecord => 'outcome' in step && step.outcome !== 'answered')
    const isAmongBefore = log.attempts.every(({ record }) => record && record.outcome !== 'answered') // given for want of a better one
    const own = usage && spendingOf(usage, { catalog: table.catalog, target, isEstimated: false }).costUsd
    const costs = [...(isAmongBefore ? [] : [own]), ...before.flatMap((step) => (step.usage ? [step.costUsd] : []))]
    const costUsd = costs.reduce((sum, cost) => (sum === undefined || cost === undefined ? undefined : sum + cost), 0)
    return {
      requestId: log.id,
      target: name,
      attempts: [
        ...before.map((step) => ({ target: targetHeader(step), status: step.status, outcome: step.outcome })),
        ...(isAmongBefore ? [] : [{ target: name, status: 200, outcome: 'answered' }]),
      ],
      ...(costUsd !== undefined && { costUsd }),
    }
  }
