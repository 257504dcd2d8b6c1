/** If a provider is silent for this long, the client gets a keep-alive. */
export const KEEP_ALIVE_MS = 15_000

/** Headers of every stream, which must not be stored, changed, or buffered. */
export const STREAM_HEADERS = { 'cache-control': 'no-cache, no-transform', 'x-accel-buffering': 'no' } as const
