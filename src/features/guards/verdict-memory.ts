import { encodeUtf8, toBase64 } from '../../lib/bytes.ts'
import { evictOldest } from '../../lib/maps.ts'
import type { Clock } from '../../types.ts'
import type { Guard, GuardPart, GuardVerdict } from './guard.ts'

const MAX_VERDICTS = 10_000
const LIFETIME_MS = 3_600_000

/** A guard's verdict on a string: passed, or rejected with a category. */
type KnownVerdict =
  | { readonly isRejected: false }
  | { readonly isRejected: true; readonly category: string | undefined }

/**
 * Caches verdicts on strings for an hour, so a guard's model doesn't reread the entire conversation in each turn. Stores keyed hashes instead of
 * text.
 */
class VerdictMemory {
  readonly #clock: Pick<Clock, 'now'>
  readonly #verdicts = new Map<string, { verdict: KnownVerdict; expiresAt: number }>()
  #key: Promise<CryptoKey> | undefined

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  /** Returns the cached rejection of older parts, if any, and the parts that need a check. */
  async recall(parts: readonly GuardPart[]): Promise<{ rejection?: GuardVerdict; unknown: readonly GuardPart[] }> {
    const verdicts = await Promise.all(parts.map((part) => (part.isOlder ? this.#find(part) : undefined)))
    const rejected = parts.filter((_, index) => verdicts[index]?.isRejected)
    const [first] = verdicts.filter((verdict) => verdict?.isRejected)
    if (!first?.isRejected) return { unknown: parts.filter((_, index) => !verdicts[index]) }
    const { category } = first
    const ids = rejected.map(({ id }) => id)
    return { rejection: { verdict: 'refuse', ids, ...(category !== undefined && { category }) }, unknown: [] }
  }

  /** Caches a verdict on complete parts. A rejection without part IDs isn't cached, because it isn't a verdict on any single part. */
  async note(parts: readonly GuardPart[], verdict: GuardVerdict = { verdict: 'pass' }): Promise<void> {
    if (verdict.verdict !== 'pass' && !(verdict.verdict === 'refuse' && verdict.ids)) return
    const expiresAt = this.#clock.now() + LIFETIME_MS
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

  async #find(part: GuardPart): Promise<KnownVerdict | undefined> {
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

const memories = new WeakMap<Guard, VerdictMemory>()

/** Returns a guard's verdict memory, or `undefined` if its verdicts may depend on more than the text. A changed guard starts with an empty memory. */
export function getVerdictMemory(guard: Guard, clock: Pick<Clock, 'now'>): VerdictMemory | undefined {
  if (!('remembers' in guard) && guard.stage !== 'during') return undefined
  const memory = memories.get(guard) ?? new VerdictMemory(clock)
  memories.set(guard, memory)
  return memory
}
