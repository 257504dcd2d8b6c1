import { isGatewayError } from '../../../errors.ts'
import { handleStorageError } from '../../../records/storage-access.ts'
import type { LimitScope, Storage } from '../../../types.ts'
import { readBook, type SideSpent, withUsed } from './book.ts'
import type { AccountName } from './decide.ts'

/** What this side has used of the account of a key or a group. */
export interface SpentAccount extends SideSpent {
  scope: 'key' | 'group'
  id: string
}

/** Some of the accounts. */
export interface SpentPage {
  accounts: SpentAccount[]
  /** Where the next page begins; absent: there is none. */
  next?: string
}

/** Where the accounts are in the storage. */
export const ACCOUNTS = 'limits/'

/**
 * After this key, lists have the accounts of keys, groups, and the gateway. Those of your app's users come before it: there can be millions, and
 * they stay on this side of a mirror.
 */
export const AFTER_USERS = 'limits/account0'

/** From this key on, lists have the accounts of tokens, which are left out for the same reasons. */
export const TOKENS = 'limits/run'

/** The key of an account in the storage. */
export const getRecordId = ({ scope, id }: AccountName): string =>
  `${ACCOUNTS}${scope}${id && `/${encodeURIComponent(id)}`}`

/**
 * A page of the accounts in the storage, at most `limit`, for the other side of the mirror `side`: what an earlier mirror has used is used here.
 * Damaged accounts are left out, as nothing can be used of them before they are started anew.
 */
export async function listSpent(
  storage: Storage,
  side: string,
  { after = AFTER_USERS, limit }: { after?: string | undefined; limit: number },
): Promise<SpentPage> {
  const stored = await storage.list(ACCOUNTS, { limit, after }).catch(handleStorageError('list', ACCOUNTS))
  const own = stored.filter(({ key }) => key < TOKENS)
  const accounts = own.flatMap(({ key, value }) => parseSpent(key, value, side) ?? [])
  const next = own.length < limit ? undefined : own.at(-1)?.key
  return { accounts, ...(next !== undefined && { next }) }
}

function parseSpent(key: string, text: string, side: string): SpentAccount | undefined {
  const name = parseRecordKey(key)
  if (name?.scope !== 'key' && name?.scope !== 'group') return undefined
  const { scope, id } = name
  try {
    const { minute, used: own, epoch, number, elsewhere } = readBook(key, text)
    const used = elsewhere && elsewhere.side !== side ? withUsed(own, elsewhere.used) : own
    return epoch === 0 && used.every((value) => value === 0) ? undefined : { scope, id, epoch, number, minute, used }
  } catch (error) {
    if (isGatewayError(error, 'RECORD_DAMAGED')) return undefined
    throw error
  }
}

const SCOPES: Readonly<Record<LimitScope, true>> = { key: true, account: true, group: true, gateway: true, run: true }

const isScope = (text: string): text is LimitScope => Object.hasOwn(SCOPES, text)

/** The account of a record in the storage. */
export function parseRecordKey(key: string): AccountName | undefined {
  const [, scope, id = ''] = key.split('/')
  if (scope === undefined || !isScope(scope)) return undefined
  try {
    return { scope, id: decodeURIComponent(id) }
  } catch {
    return undefined // no key of ours
  }
}
