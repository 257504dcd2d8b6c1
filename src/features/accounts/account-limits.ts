import { evictOldest } from '../../lib/maps.ts'
import type { UsageLimits, WindowLimits } from '../../types/limits.ts'
import { COUNTED_UNITS } from '../limits/ledger/book.ts'
import { WINDOWS } from '../limits/ledger/windows.ts'

/**
 * Combines limits: for each unit and window, the lower limit wins. Returns the same object for equal results, because the ledger caches rules by
 * object.
 */
export type CombineLimits = (a: UsageLimits, b: UsageLimits | undefined) => UsageLimits

/** Creates a function that combines limits and caches up to 20,000 results. */
export function createLimitCombiner(): CombineLimits {
  const limitsByKey = new Map<string, UsageLimits>()
  return (a, b) => {
    const combinedLimits = combine(a, b)
    const key = JSON.stringify(combinedLimits)
    const cachedLimits = limitsByKey.get(key)
    if (cachedLimits) return cachedLimits
    evictOldest(limitsByKey, MAX_CACHED_LIMITS)
    limitsByKey.set(key, combinedLimits)
    return combinedLimits
  }
}

const MAX_CACHED_LIMITS = 20_000

/** Combines limits in a fixed order, so equal limits have the same JSON. */
function combine(a: UsageLimits, b: UsageLimits | undefined): UsageLimits {
  const limits: UsageLimits = {}
  for (const unit of COUNTED_UNITS) {
    const [limitA, limitB] = [a[unit], b?.[unit]]
    if (!limitA && !limitB) continue
    const windows: WindowLimits = {}
    for (const window of WINDOWS) {
      const lowerLimit = getMin(limitA?.[window], limitB?.[window])
      if (lowerLimit !== undefined) windows[window] = lowerLimit
    }
    limits[unit] = windows
  }
  const parallel = getMin(a.parallel, b?.parallel)
  if (parallel !== undefined) limits.parallel = parallel
  return limits
}

const getMin = (a: number | undefined, b: number | undefined) =>
  a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)
