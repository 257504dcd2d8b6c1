import { type GatewayError, gatewayError } from '../../errors.ts'
import { cacheDerived, getSettledValue } from '../../lib/promises.ts'
import type { ClientGroup, GroupCache } from '../../records/known-groups.ts'
import type { GroupRecord } from '../../records/record-collections.ts'
import type { Records } from '../../records/records.ts'

/** Finds the plan with this ID or name. Rejects with `IDENTITY_INVALID` if there is none, and with `ACCOUNT_PAUSED` if it is paused. */
export type FindPlan = (idOrName: string, options?: { includePaused?: boolean }) => Promise<ClientGroup>

/** Creates the function that finds plans, which are groups of keys. */
export function createPlanFinder({
  groups,
  groupCache,
}: {
  groups: Pick<Records<GroupRecord>, 'all'>
  groupCache: Pick<GroupCache, 'find'>
}): FindPlan {
  const getIdsByName = cacheDerived(
    (groupRecords: readonly GroupRecord[]) => new Map(groupRecords.toReversed().map(({ id, name }) => [name, id])),
  )

  return async (idOrName, { includePaused = false } = {}) => {
    const planPromise = groupCache.find(idOrName)
    const plan = getSettledValue(planPromise) ?? (await planPromise) ?? (await findByName(idOrName))
    if (!plan)
      throw gatewayError('IDENTITY_INVALID', {
        message: `The plan ${JSON.stringify(idOrName)} of an account does not exist. Create a group with this id or name.`,
      })
    if (plan.isActive === false && !includePaused) throw createPausedPlanError()
    return plan
  }

  async function findByName(name: string): Promise<ClientGroup | undefined> {
    const id = (await getIdsByName(groups.all())).get(name)
    return id === undefined ? undefined : groupCache.find(id)
  }
}

/** Creates the error for an account whose plan is paused. */
export const createPausedPlanError = (): GatewayError =>
  gatewayError('ACCOUNT_PAUSED', {
    message: 'The plan of this account is paused. Ask the operator of this gateway to resume it.',
  })
