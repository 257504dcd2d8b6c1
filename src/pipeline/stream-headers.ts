/** A provider that thinks this long in silence is covered by a sign of life. */
export const KEEP_ALIVE_MS = 15_000

/** Of every stream: it is not to be stored, changed or held back. */
export const STREAM_HEADERS = { 'cache-control': 'no-cache, no-transform', 'x-accel-buffering': 'no' } as const
