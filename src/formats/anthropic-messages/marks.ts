import type { Fields } from '../canonical/fields.ts'
import type { CacheMark } from '../canonical/parts.ts'
import type { Warnings } from '../canonical/warnings.ts'
import type { TargetContext } from '../translator.ts'
import type { WireMarked } from './wire-request.ts'

/** `cache_control` as a client gives it. Its scope is a matter of Anthropic's own. */
export function parseMark(fields: Fields, warnings: Warnings): CacheMark | undefined {
  const mark = fields.fields('cache_control')
  if (!mark) return undefined
  const ttl = mark.wish('ttl', ['5m', '1h'])
  const cache: CacheMark = ttl ? { ttl } : {}
  warnings.place(cache, mark.at)
  return cache
}

/** `cache_control` for a provider. Longer times than Anthropic's become its longest. */
export function wireMark(cache: CacheMark | undefined, { traits, warnings }: TargetContext): WireMarked {
  if (!cache || traits.cacheMarks !== 'cache_control') return {}
  const { ttl } = cache
  if (ttl === undefined) return { cache_control: { type: 'ephemeral' } }
  if (ttl !== '5m' && ttl !== '1h') warnings.changed(warnings.pathOf(cache, 'cache', 'ttl'), 'replaced')
  return { cache_control: { type: 'ephemeral', ttl: ttl === '5m' ? ttl : '1h' } }
}
