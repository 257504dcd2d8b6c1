import type { CacheMark } from './canonical/parts.ts'
import type { Warnings } from './canonical/warnings.ts'

/** `prompt_cache_breakpoint` of both of OpenAI's formats. It lives for half an hour or for twelve, and without a word as long as the model has it. */
export function writeBreakpoint(cache: CacheMark, warnings: Warnings): { mode: 'explicit'; ttl?: '30m' | '12h' } {
  const { ttl } = cache
  if (ttl === '30m' || ttl === '12h') return { mode: 'explicit', ttl }
  if (ttl === '1h') warnings.dropped(warnings.pathOf(cache, 'cache', 'ttl'))
  return { mode: 'explicit' }
}
