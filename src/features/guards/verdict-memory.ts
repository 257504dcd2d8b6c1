import { encodeUtf8, toBase64 } from '../../lib/bytes.ts'
import { evictOldest } from '../../lib/maps.ts'
import type { Clock } from '../../types.ts'
import type { Guard, GuardPart, GuardVerdict } from './guard.ts'

const MAX_VERDICTS = 10_000
const TTL_MS = 3_600_000

/** A guard's verdict on a string: passed, or rejected with a category. */
type CachedVerdict =
  | { readonly isRejected: false }
  | { readonly isRejected: true; readonly category: string | undefined }

/**
 * Caches verdicts on strings for an hour, so a guard's model doesn't reread the entire conversation in each turn. Stores keyed hashes instead of
 * text.
 */
class VerdictCache {
  readonly #clock: Pick<Clock, 'now'>
  readonly #verdicts = new Map<string, { verdict: CachedVerdict; expiresAt: number }>()
  #key: Promise<CryptoKey> | undefined

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  /** Returns the cached rejection of older parts, if any, and the parts that need a check. */
  async lookUp(
    parts: readonly GuardPart[],
  ): Promise<{ rejection?: GuardVerdict; uncachedParts: readonly GuardPart[] }> {
    const verdicts = await Promise.all(parts.map((part) => (part.isOlder ? this.#find(part) : undefined)))
    const rejectedParts = parts.filter((_, index) => verdicts[index]?.isRejected)
    const [firstRejection] = verdicts.filter((verdict) => verdict?.isRejected)
    if (!firstRejection?.isRejected) return { uncachedParts: parts.filter((_, index) => !verdicts[index]) }
    const { category } = firstRejection
    const ids = rejectedParts.map(({ id }) => id)
    return { rejection: { verdict: 'refuse', ids, ...(category !== undefined && { category }) }, uncachedParts: [] }
  }

  /** Caches a verdict on complete parts. A rejection without part IDs isn't cached, because it isn't a verdict on any single part. */
  async store(parts: readonly GuardPart[], verdict: GuardVerdict = { verdict: 'pass' }): Promise<void> {
    if (verdict.verdict !== 'pass' && !(verdict.verdict === 'refuse' && verdict.ids)) return
    const expiresAt = this.#clock.now() + TTL_MS
    const [ids, category] = verdict.verdict === 'refuse' ? [verdict.ids, verdict.category] : []
    for (const part of parts) {
      if (part.isPiece !== undefined || (ids && !ids.includes(part.id))) continue
      evictOldest(this.#verdicts, MAX_VERDICTS)
      this.#verdicts.set(await this.#hash(part), {
        verdict: ids ? { isRejected: true, category } : { isRejected: false },
        expiresAt,
      })
    }
  }

  async #find(part: GuardPart): Promise<CachedVerdict | undefined> {
    const hash = await this.#hash(part)
    const entry = this.#verdicts.get(hash)
    if (!entry) return undefined
    this.#verdicts.delete(hash)
    if (entry.expiresAt <= this.#clock.now()) return undefined
    this.#verdicts.set(hash, entry) // keeps the most recently used entries last
    return entry.verdict
  }

  async #hash({ role, text }: GuardPart): Promise<string> {
    this.#key ??= crypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
    const signature = await crypto.subtle.sign('HMAC', await this.#key, encodeUtf8(`${role} ${text}`))
    return toBase64(new Uint8Array(signature))
  }
}

const caches = new WeakMap<Guard, VerdictCache>()

/** Returns a guard's verdict cache, or `undefined` if its verdicts may depend on more than the text. A changed guard starts with an empty cache. */
export function getVerdictCache(guard: Guard, clock: Pick<Clock, 'now'>): VerdictCache | undefined {
  if (!('cachesVerdicts' in guard) && guard.stage !== 'during') return undefined
  const cache = caches.get(guard) ?? new VerdictCache(clock)
  caches.set(guard, cache)
  return cache
}
