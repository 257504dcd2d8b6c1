import type { Fields } from '../canonical/fields.ts'
import type { CacheMark } from '../canonical/parts.ts'
import type { TargetContext } from '../translator.ts'
import type { WireMarked } from './wire-request.ts'

/** `cache_control` as a client gives it. Its scope is a matter of Anthropic's own. */
export function parseMark(fields: Fields, name = 'cache_control'): CacheMark | undefined {
  const mark = fields.fields(name)
  if (!mark) return undefined
  const ttl = mark.wish('ttl', ['5m', '1h'])
  return ttl ? { ttl } : {}
}

/** `cache_control` for a provider. Longer times than Anthropic's become its longest. */
export function wireMark(cache: CacheMark | undefined, { traits, warnings }: TargetContext): WireMarked {
  if (!cache || traits.cacheMarks !== 'cache_control') return {}
  const { ttl } = cache
  if (ttl === undefined) return { cache_control: { type: 'ephemeral' } }
  if (ttl !== '5m' && ttl !== '1h') warnings.changed('cache', 'replaced')
  return { cache_control: { type: 'ephemeral', ttl: ttl === '5m' ? ttl : '1h' } }
}
