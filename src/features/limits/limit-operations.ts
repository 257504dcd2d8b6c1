import * as v from 'valibot'
import { closedObject, createChoiceSchema, parseInput } from '../../admin/input.ts'
import { findRecord, requirePresent } from '../../admin/record-operations.ts'
import type { WritableStore } from '../../records/writable-store.ts'
import type { LimitState, UsageLimits } from '../../types.ts'
import type { Ledger, LimitedScope, ScopeName } from './ledger/ledger.ts'

/**
 * Shows and resets the limits of a key, a group, or an account. The operations accept `Input` as well as the typed input: `never` for in-process
 * calls, `unknown` for HTTP bodies.
 */
export interface LimitOperations<Input = never> {
  /**
   * Returns all limits that apply: those of the resource itself, of its group, account, or plan, and of the gateway. Excludes limits that `identify`
   * returns for an account. Rejects with `STORAGE_UNAVAILABLE` while storage is unavailable.
   */
  get(id: string): Promise<LimitStates>
  /** Resets the resource's own counters. In-flight requests stay reserved. */
  reset(id: string): Promise<{ success: true }>
  /** Ends the reservations of instances that are no longer running. By default, these reservations count as used. */
  settle(id: string, input?: LostSettlement | Input): Promise<{ success: true }>
}

/** The same operations for the limits in the settings, which all requests share. */
export interface GatewayLimitOperations<Input = never> {
  get(): Promise<LimitStates>
  reset(): Promise<{ success: true }>
  settle(input?: LostSettlement | Input): Promise<{ success: true }>
}

export interface LimitStates {
  limits: LimitState[]
}

/** How to count reservations that were never settled: as used (the default), or as unused. */
export interface LostSettlement {
  as?: 'spent' | 'unspent'
}

export const limitInputs = { settle: closedObject({ as: v.exactOptional(createChoiceSchema(['spent', 'unspent'])) }) }

interface LimitDependencies {
  store: WritableStore
  ledger(): Promise<Ledger>
  accounts(): Promise<AccountLookups>
}

/** The accounts of your app's users. */
interface AccountLookups {
  readonly refs: { resolve(idOrRef: string): Promise<string> }
  /** Returns a stored account's plan and limits, or `undefined` if there is none. */
  findPlanAndLimits(ref: string): Promise<{ limits?: UsageLimits | undefined; plan?: Holder | undefined } | undefined>
}

/** A resource with its own limits. */
interface Holder {
  id: string
  limits?: UsageLimits
}

export function createLimitOperations({ store, ledger, accounts }: LimitDependencies) {
  async function readStates(scopes: readonly LimitedScope[]): Promise<LimitStates> {
    const openedLedger = await ledger()
    return { limits: (await Promise.all(scopes.map((scope) => openedLedger.getStates(scope)))).flat() }
  }

  const listGatewayScopes = async () => listScope('gateway', { id: '', ...(await store.settings.read()) })

  async function listGroupScopes(group: string | undefined): Promise<LimitedScope[]> {
    const record = group === undefined ? undefined : await store.groups.get(group)
    return record ? listScope('group', record) : []
  }

  async function listAccountScopes(ref: string | undefined): Promise<LimitedScope[]> {
    if (ref === undefined) return []
    const { limits, plan } = (await (await accounts()).findPlanAndLimits(ref)) ?? {}
    const accountScope = listScope('account', { id: ref, ...(limits && { limits }) })
    return plan ? [...accountScope, ...listScope('group', plan)] : accountScope
  }

  async function findAccount(idOrRef: string): Promise<string> {
    const { refs, findPlanAndLimits } = await accounts()
    const ref = await refs.resolve(idOrRef)
    requirePresent(await findPlanAndLimits(ref), 'Account')
    return ref
  }

  async function reset(scope: ScopeName): Promise<{ success: true }> {
    await (await ledger()).reset(scope)
    return { success: true }
  }

  /** Validates the input, then looks up the resource and settles its lost reservations. */
  async function settle(input: unknown, findScope: () => Promise<ScopeName>): Promise<{ success: true }> {
    const { as = 'spent' } = parseInput(limitInputs.settle, input ?? {})
    await (await ledger()).settleLost(await findScope(), as)
    return { success: true }
  }

  const findKey = async (id: string) => (await findRecord(store.keys, 'Key', (key) => key.id === id)).record
  const findGroup = async (id: string) => (await findRecord(store.groups, 'Group', (group) => group.id === id)).record

  const getKeyScope = async (id: string): Promise<ScopeName> => ({ scope: 'key', id: (await findKey(id)).id })
  const getGroupScope = async (id: string): Promise<ScopeName> => ({ scope: 'group', id: (await findGroup(id)).id })

  const keys: LimitOperations<unknown> = {
    async get(id) {
      const key = await findKey(id)
      return readStates([
        ...listScope('key', key),
        ...(await listGroupScopes(key.group)),
        ...(await listAccountScopes(key.account)),
        ...(await listGatewayScopes()),
      ])
    },
    reset: async (id) => reset(await getKeyScope(id)),
    settle: (id, input) => settle(input, () => getKeyScope(id)),
  }

  const groups: LimitOperations<unknown> = {
    get: async (id) => readStates([...listScope('group', await findGroup(id)), ...(await listGatewayScopes())]),
    reset: async (id) => reset(await getGroupScope(id)),
    settle: (id, input) => settle(input, () => getGroupScope(id)),
  }

  const getAccountScope = async (id: string): Promise<ScopeName> => ({ scope: 'account', id: await findAccount(id) })
  const users: LimitOperations<unknown> = {
    get: async (id) =>
      readStates([...(await listAccountScopes(await findAccount(id))), ...(await listGatewayScopes())]),
    reset: async (id) => reset(await getAccountScope(id)),
    settle: (id, input) => settle(input, () => getAccountScope(id)),
  }

  const gateway: GatewayLimitOperations<unknown> = {
    get: async () => readStates(await listGatewayScopes()),
    reset: () => reset(GATEWAY_SCOPE),
    settle: (input) => settle(input, async () => GATEWAY_SCOPE),
  }

  return { keys, groups, accounts: users, gateway }
}

const GATEWAY_SCOPE: ScopeName = { scope: 'gateway', id: '' }

const listScope = (scope: ScopeName['scope'], { id, limits }: Holder): LimitedScope[] =>
  limits ? [{ scope, id, limits }] : []
