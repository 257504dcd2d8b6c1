import { isGatewayError } from '../../../errors.ts'
import { handleStorageError } from '../../../records/storage-access.ts'
import type { LimitScope, Storage } from '../../../types.ts'
import { addUsed, decodeBook, type SideSpending } from './book.ts'
import type { AccountName } from './decide.ts'

/** The usage on this side of a key's, group's, or gateway's account. */
export interface AccountSpending extends SideSpending {
  scope: 'key' | 'group'
  id: string
}

/** A page of accounts. */
export interface SpendingPage {
  accounts: AccountSpending[]
  /** The start of the next page; absent if there is none. */
  next?: string
}

/** The storage prefix of accounts. */
export const ACCOUNTS_PREFIX = 'limits/'

/**
 * The storage key after which the accounts of keys, groups, and the gateway are listed. Accounts of your app's users come before it. There can be
 * millions of them, and they aren't synced with a mirror.
 */
export const USER_ACCOUNTS_END = 'limits/account0'

/** The storage key at which the accounts of tokens start. These are omitted for the same reasons. */
export const TOKEN_ACCOUNTS = 'limits/run'

/** Returns the storage key of an account. */
export const getRecordKey = ({ scope, id }: AccountName): string =>
  `${ACCOUNTS_PREFIX}${scope}${id && `/${encodeURIComponent(id)}`}`

/**
 * Returns a page of at most `limit` accounts, for the other side of the mirror `side`. Usage of an earlier mirror counts as this side's usage. Omits
 * damaged accounts, because they can't be used until they are reset.
 */
export async function listSpending(
  storage: Storage,
  side: string,
  { after = USER_ACCOUNTS_END, limit }: { after?: string | undefined; limit: number },
): Promise<SpendingPage> {
  const stored = await storage
    .list(ACCOUNTS_PREFIX, { limit, after })
    .catch(handleStorageError('list', ACCOUNTS_PREFIX))
  const own = stored.filter(({ key }) => key < TOKEN_ACCOUNTS)
  const accounts = own.flatMap(({ key, value }) => parseSpending(key, value, side) ?? [])
  const next = own.length < limit ? undefined : own.at(-1)?.key
  return { accounts, ...(next !== undefined && { next }) }
}

function parseSpending(key: string, text: string, side: string): AccountSpending | undefined {
  const name = parseRecordKey(key)
  if (name?.scope !== 'key' && name?.scope !== 'group') return undefined
  const { scope, id } = name
  try {
    const { minute, used: own, epoch, number, otherSide } = decodeBook(key, text)
    const used = otherSide && otherSide.side !== side ? addUsed(own, otherSide.used) : own
    return epoch === 0 && used.every((value) => value === 0) ? undefined : { scope, id, epoch, number, minute, used }
  } catch (error) {
    if (isGatewayError(error, 'RECORD_DAMAGED')) return undefined
    throw error
  }
}

const SCOPES: Readonly<Record<LimitScope, true>> = { key: true, account: true, group: true, gateway: true, run: true }

const isScope = (text: string): text is LimitScope => Object.hasOwn(SCOPES, text)

/** Returns the account that a storage key belongs to. */
export function parseRecordKey(key: string): AccountName | undefined {
  const [, scope, id = ''] = key.split('/')
  if (scope === undefined || !isScope(scope)) return undefined
  try {
    return { scope, id: decodeURIComponent(id) }
  } catch {
    return undefined // not one of our keys
  }
}
