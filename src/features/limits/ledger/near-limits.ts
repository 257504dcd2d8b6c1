import { isGatewayError } from '../../../errors.ts'
import { handleStorageError } from '../../../records/storage-access.ts'
import type { LimitState, UsageLimits } from '../../../types/limits.ts'
import type { Storage } from '../../../types.ts'
import { decodeBook, rollUsed } from './book.ts'
import { type AccountName, getLimitStates } from './decide.ts'
import { ACCOUNTS_PREFIX, parseRecordKey, TOKEN_ACCOUNTS, USER_ACCOUNTS_END } from './spent-accounts.ts'
import { toMinute } from './windows.ts'

/** The share of a limit that must be used for it to be near. */
const NEAR_SHARE = 0.8
const PAGE = 1_000
/** The maximum number of accounts to read. */
const MAX_ACCOUNTS = 10_000

/**
 * Returns the limits that are at least 80% used or reserved, the fullest first. Skips limits on concurrent requests, and accounts that are damaged or
 * have no limits. Reads the first 10,000 accounts in the storage, except accounts of your app's users and of tokens. `getLimits` returns the limits
 * of an account. Rejects with `STORAGE_UNAVAILABLE` or `STORAGE_FAILED`.
 */
export async function findNearLimits(
  storage: Storage,
  getLimits: (account: AccountName) => UsageLimits | undefined,
  now: number,
): Promise<LimitState[]> {
  const found: LimitState[] = []
  let after = USER_ACCOUNTS_END
  for (let seen = 0; seen < MAX_ACCOUNTS; seen += PAGE) {
    const page = await storage
      .list(ACCOUNTS_PREFIX, { limit: PAGE, after })
      .catch(handleStorageError('list', ACCOUNTS_PREFIX))
    const stored = page.filter(({ key }) => key < TOKEN_ACCOUNTS)
    for (const { key, value } of stored) {
      const name = parseRecordKey(key)
      const limits = name && getLimits(name)
      if (limits)
        found.push(
          ...readNearStates(key, value, { name, limits, now }).filter((state) => getUsedShare(state) >= NEAR_SHARE),
        )
    }
    after = stored.at(-1)?.key ?? after
    if (stored.length < PAGE) break
  }
  return found.sort((one, other) => getUsedShare(other) - getUsedShare(one))
}

interface NearLimitOptions {
  name: AccountName
  limits: UsageLimits
  now: number
}

function readNearStates(key: string, text: string, { name, limits, now }: NearLimitOptions): LimitState[] {
  try {
    const book = decodeBook(key, text)
    const minute = Math.max(book.minute, toMinute(now))
    const { used, minute: from, otherSide } = book
    const current = {
      ...book,
      minute,
      used: rollUsed(used, from, minute),
      otherSide: otherSide && { ...otherSide, used: rollUsed(otherSide.used, from, minute) },
    }
    const view = { book: current, isLost: () => false, mayLive: () => true }
    return getLimitStates(name, limits, view).filter(({ unit }) => unit !== 'parallel')
  } catch (error) {
    if (isGatewayError(error, 'RECORD_DAMAGED')) return []
    throw error
  }
}

const getUsedShare = ({ limit, remaining }: LimitState): number => (limit > 0 ? (limit - remaining) / limit : 1)
