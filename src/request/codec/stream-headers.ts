/** The client gets a keep-alive after the provider has been silent for this long, in ms. */
export const KEEP_ALIVE_MS = 15_000

/** Headers of every stream. Streams must not be stored, changed, or buffered. */
export const STREAM_HEADERS = { 'cache-control': 'no-cache, no-transform', 'x-accel-buffering': 'no' } as const
