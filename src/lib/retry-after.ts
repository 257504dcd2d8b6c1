/** The wait that an answer asks for at `now` (epoch ms), in ms: `retry-after-ms`, else `retry-after` as seconds or as a date. */
export function retryAfterMs(header: (name: string) => string | undefined, now: number): number | undefined {
  const ms = count(header('retry-after-ms'))
  if (ms !== undefined) return ms
  const after = header('retry-after')
  const seconds = count(after)
  if (seconds !== undefined) return seconds * 1000
  const date = after !== undefined && HTTP_DATE.test(after) ? Date.parse(after) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

const HTTP_DATE = /^[A-Z][a-z]{2}, \d/

const count = (text: string | undefined) =>
  text !== undefined && /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined
