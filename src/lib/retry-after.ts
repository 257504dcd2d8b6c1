/** The wait that an answer asks for, in ms: `retry-after-ms`, else `retry-after` in seconds. A date is left to the client. */
export function retryAfterMs(header: (name: string) => string | undefined): number | undefined {
  const ms = Number(header('retry-after-ms') ?? Number.NaN)
  if (ms >= 0) return ms
  const seconds = Number(header('retry-after') ?? Number.NaN)
  return seconds >= 0 ? seconds * 1000 : undefined
}
