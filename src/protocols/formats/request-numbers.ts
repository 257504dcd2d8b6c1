/** Reads the number of responses that a request asks for, at least 1. Like some servers, accepts a string too. */
export function readResponseCount(value: unknown): number {
  const count = typeof value === 'string' ? Number(value) : value
  return typeof count === 'number' && count > 1 ? Math.ceil(count) : 1
}

/** Returns the highest limit. Returns `undefined` if there is none, or if one of them means no limit, as -1 does on some servers. */
export function getHighestLimit(limits: readonly unknown[]): number | undefined {
  const presentLimits = limits.filter((limit) => (limit ?? null) !== null)
  const numericLimits = presentLimits.filter(
    (limit) => typeof limit === 'number' && limit >= 1 && Number.isFinite(limit),
  )
  return presentLimits.length > 0 && numericLimits.length === presentLimits.length
    ? Math.max(...(numericLimits as number[]))
    : undefined // every present limit is a number
}
