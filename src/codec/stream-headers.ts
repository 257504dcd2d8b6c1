/** A provider that is silent for this long is covered by a sign of life. */
export const KEEP_ALIVE_MS = 15_000

/** Headers of every stream: it must not be stored, changed or buffered. */
export const STREAM_HEADERS = { 'cache-control': 'no-cache, no-transform', 'x-accel-buffering': 'no' } as const
