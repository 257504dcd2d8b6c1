import { isGatewayError } from '../../../errors.ts'
import { ACCOUNT_LIMITS_END, LIMITS_PREFIX } from '../../../records/record-collections.ts'
import { handleStorageError } from '../../../records/storage-access.ts'
import type { LimitState, UsageLimits } from '../../../types/limits.ts'
import type { Storage } from '../../../types.ts'
import { decodeBook, rollUsed } from './book.ts'
import { getLimitStates, type ScopeName } from './decide.ts'
import { parseRecordKey, TOKENS_START } from './scope-spending.ts'
import { toMinute } from './windows.ts'

/** A limit is near if at least this share of it is used. */
const NEAR_LIMIT_SHARE = 0.8
const PAGE_SIZE = 1_000
/** The maximum number of scopes to read. */
const MAX_SCOPES = 10_000

/**
 * Returns the limits that are at least 80% used or reserved, fullest first. Skips limits on concurrent requests, and scopes that are damaged or have
 * no limits. Reads the first 10,000 scopes in storage, except accounts and tokens. `getLimits` returns a scope's limits. Rejects with
 * `STORAGE_UNAVAILABLE` or `STORAGE_FAILED`.
 */
export async function findNearLimits(
  storage: Storage,
  getLimits: (scope: ScopeName) => UsageLimits | undefined,
  now: number,
): Promise<LimitState[]> {
  const nearLimits: LimitState[] = []
  let after = ACCOUNT_LIMITS_END
  for (let scannedCount = 0; scannedCount < MAX_SCOPES; scannedCount += PAGE_SIZE) {
    const page = await storage
      .list(LIMITS_PREFIX, { limit: PAGE_SIZE, after })
      .catch(handleStorageError('list', LIMITS_PREFIX))
    const limitRows = page.filter(({ key }) => key < TOKENS_START)
    for (const { key, value } of limitRows) {
      const name = parseRecordKey(key)
      const limits = name && getLimits(name)
      if (limits)
        nearLimits.push(
          ...readNearStates(key, value, { name, limits, now }).filter(
            (state) => getUsedShare(state) >= NEAR_LIMIT_SHARE,
          ),
        )
    }
    after = limitRows.at(-1)?.key ?? after
    if (limitRows.length < PAGE_SIZE) break
  }
  return nearLimits.sort((a, b) => getUsedShare(b) - getUsedShare(a))
}

interface NearLimitOptions {
  name: ScopeName
  limits: UsageLimits
  now: number
}

function readNearStates(key: string, text: string, { name, limits, now }: NearLimitOptions): LimitState[] {
  try {
    const book = decodeBook(key, text)
    const minute = Math.max(book.minute, toMinute(now))
    const { used, minute: storedMinute, otherSide } = book
    const currentBook = {
      ...book,
      minute,
      used: rollUsed(used, storedMinute, minute),
      otherSide: otherSide && { ...otherSide, used: rollUsed(otherSide.used, storedMinute, minute) },
    }
    const view = { book: currentBook, isLost: () => false, mayBeAlive: () => true }
    return getLimitStates(name, limits, view).filter(({ unit }) => unit !== 'parallel')
  } catch (error) {
    if (isGatewayError(error, 'RECORD_DAMAGED')) return []
    throw error
  }
}

const getUsedShare = ({ limit, remaining }: LimitState): number => (limit > 0 ? (limit - remaining) / limit : 1)
