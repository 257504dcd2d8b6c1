import { defined } from './canonical/defined.ts'
import type { Fields } from './canonical/fields.ts'
import type { RequestOptions } from './canonical/request.ts'
import { shortId } from './canonical/short-id.ts'

/* The options that both formats of OpenAI have under the same names and in the same shapes. */

/** `prompt_cache_options`, and the older `prompt_cache_retention`. */
export function parseCacheOptions(body: Fields): RequestOptions['cacheOptions'] {
  const options = body.fields('prompt_cache_options')
  const mode = options?.wish('mode', ['implicit', 'explicit'])
  const ttl = options?.text('ttl') ?? body.text('prompt_cache_retention')
  options?.drop()
  return mode === undefined && ttl === undefined ? undefined : defined({ mode, ttl })
}

/** The two values of the older field are still written as that one. */
export function wireCacheOptions(options: RequestOptions['cacheOptions']) {
  const { mode, ttl } = options ?? {}
  if (ttl === '24h' || ttl === 'in_memory') return { prompt_cache_retention: ttl }
  return mode || ttl ? { prompt_cache_options: defined({ mode, ttl }) } : {}
}

/** `safety_identifier`, and the older `user`. */
export const parseEndUser = (body: Fields): string | undefined => body.text('safety_identifier') ?? body.text('user')

/** `safety_identifier`; OpenAI refuses one of more than 128 characters. */
export const wireEndUser = (endUser: string | undefined): string | undefined =>
  endUser === undefined ? undefined : shortId(endUser, 128)

/** `service_tier`. */
export const parseServiceTier = (body: Fields): RequestOptions['serviceTier'] =>
  body.wish('service_tier', ['auto', 'default', 'flex', 'scale', 'priority', 'fast'])
