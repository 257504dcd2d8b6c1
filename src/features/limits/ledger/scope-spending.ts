import { isGatewayError } from '../../../errors.ts'
import { ACCOUNT_LIMITS_END, LIMITS_PREFIX } from '../../../records/record-collections.ts'
import { handleStorageError } from '../../../records/storage-access.ts'
import type { LimitScope, Storage } from '../../../types.ts'
import { addUsed, decodeBook, type SideSpending } from './book.ts'
import type { ScopeName } from './decide.ts'

/** The usage of a key or group on this side of a replica. */
export interface ScopeSpending extends SideSpending {
  scope: 'key' | 'group'
  id: string
}

/** A page of scopes. */
export interface SpendingPage {
  accounts: ScopeSpending[]
  /** The start of the next page. Absent if there is none. */
  next?: string
}

/**
 * The storage key at which token counters start. Like account counters, they aren't listed, because there can be millions of them and they aren't
 * synced.
 */
export const TOKENS_START = 'limits/run'

/**
 * Returns a page of at most `limit` scopes, for the other side of the replica `side`. Usage on an earlier replica's other side counts as this side's
 * usage. Omits damaged scopes, because they can't be used until they are reset.
 */
export async function listSpending(
  storage: Storage,
  side: string,
  { after = ACCOUNT_LIMITS_END, limit }: { after?: string | undefined; limit: number },
): Promise<SpendingPage> {
  const rows = await storage.list(LIMITS_PREFIX, { limit, after }).catch(handleStorageError('list', LIMITS_PREFIX))
  const scopeRows = rows.filter(({ key }) => key < TOKENS_START)
  const accounts = scopeRows.flatMap(({ key, value }) => parseSpending(key, value, side) ?? [])
  const next = scopeRows.length < limit ? undefined : scopeRows.at(-1)?.key
  return { accounts, ...(next !== undefined && { next }) }
}

function parseSpending(key: string, text: string, side: string): ScopeSpending | undefined {
  const name = parseRecordKey(key)
  if (name?.scope !== 'key' && name?.scope !== 'group') return undefined
  const { scope, id } = name
  try {
    const { minute, used: usedAmounts, epoch, number, otherSide } = decodeBook(key, text)
    const used = otherSide && otherSide.side !== side ? addUsed(usedAmounts, otherSide.used) : usedAmounts
    return epoch === 0 && used.every((value) => value === 0) ? undefined : { scope, id, epoch, number, minute, used }
  } catch (error) {
    if (isGatewayError(error, 'RECORD_DAMAGED')) return undefined
    throw error
  }
}

const VALID_SCOPES: Readonly<Record<LimitScope, true>> = {
  key: true,
  account: true,
  group: true,
  gateway: true,
  run: true,
}

const isScope = (text: string): text is LimitScope => Object.hasOwn(VALID_SCOPES, text)

/** Returns the scope that a storage key belongs to. */
export function parseRecordKey(key: string): ScopeName | undefined {
  const [, scope, id = ''] = key.split('/')
  if (scope === undefined || !isScope(scope)) return undefined
  try {
    return { scope, id: decodeURIComponent(id) }
  } catch {
    return undefined // not a counter's storage key
  }
}
