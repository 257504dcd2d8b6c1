import { isObject } from '../../../src/lib/json.ts'
import { type Block, countTokens, type PromptReader } from './prompt-blocks.ts'

/** The usage of one request in tokens, as a provider reports it. */
export interface SimulatedUsage {
  /** All input tokens. */
  input: number
  read: number
  written: number
}

/** A request that a provider received. */
export interface SimulatedRequest {
  body: object
  headers?: Headers
  /** In ms since the epoch. */
  now: number
}

/** Simulates a provider's prompt cache. Throws if a request breaks the provider's rules. */
export type CacheSimulator = (request: SimulatedRequest) => SimulatedUsage

const MINUTE = 60_000

/**
 * Simulates the rules that Claude, Bedrock, Nova, and OpenRouter share: at most four breakpoints, longer lifetimes first, no prefix below the
 * minimum, and a lookback of at most 20 blocks before each breakpoint for an unexpired entry. A read renews an entry.
 */
export function simulateMarks(readPrompt: PromptReader, { minTokens = 1_024 } = {}): CacheSimulator {
  const entries = new Map<string, { until: number; ttlMs: number }>()
  return ({ body, now }) => {
    const blocks = readPrompt(body)
    const { cache_control } = Object(body)
    const marks = blocks.flatMap(({ ttlMs }, index) => (ttlMs === undefined ? [] : [{ at: index, ttlMs }]))
    const slots = marks.length + (isObject(cache_control) ? 1 : 0)
    if (isObject(cache_control)) {
      const last = blocks.findLastIndex(({ canHaveBreakpoint }) => canHaveBreakpoint)
      if (!marks.some(({ at }) => at === last)) marks.push({ at: last, ttlMs: 5 * MINUTE })
    }
    if (slots > 4) throw new Error(`A maximum of 4 blocks with cache_control may be provided. Found ${slots}.`)
    for (const [index, { at, ttlMs }] of marks.entries()) {
      if (!blocks[at]?.canHaveBreakpoint) throw new Error(`cache_control cannot be set for ${blocks[at]?.text}`)
      if (index > 0 && ttlMs > (marks[index - 1]?.ttlMs ?? 0)) throw new Error("ttl='1h' must not come after ttl='5m'")
    }
    const prefixes = listPrefixes(blocks)
    let readTo = -1
    for (const { at } of marks)
      for (let back = at; back > at - 20 && back > readTo && back >= 0; back--) {
        const entry = entries.get(prefixes[back]?.key ?? '')
        if (entry && entry.until > now) {
          entry.until = now + entry.ttlMs
          readTo = back
          break
        }
      }
    const input = prefixes.at(-1)?.tokens ?? 0
    const read = prefixes[readTo]?.tokens ?? 0
    let written = 0
    for (const { at, ttlMs } of marks) {
      const prefix = prefixes[at]
      if (!prefix || at <= readTo || prefix.tokens < minTokens) continue
      written = Math.max(written, prefix.tokens - read)
      entries.set(prefix.key, { until: now + ttlMs, ttlMs })
    }
    return { input, read, written }
  }
}

/**
 * Simulates the rules of GPT-5.6: an automatic breakpoint at the newest message unless the mode is explicit, plus the last three explicit ones. A
 * prefix is only found at a breakpoint, and on the machine that the cache key selects. Writes last 30 minutes.
 */
export function simulateBreakpoints(readPrompt: PromptReader, { minTokens = 1_024 } = {}): CacheSimulator {
  const entries = new Map<string, number>()
  return ({ body, now }) => {
    const { prompt_cache_options, prompt_cache_key } = Object(body)
    const prefixes = listPrefixes(readPrompt(body), `${prompt_cache_key}`)
    const explicit = readPrompt(body).flatMap(({ ttlMs }, index) => (ttlMs === undefined ? [] : [index]))
    if (explicit.length > 4) throw new Error('At most four breakpoints are allowed.')
    const isImplicit = Object(prompt_cache_options).mode !== 'explicit'
    const breakpoints = isImplicit ? [...explicit.slice(-3), prefixes.length - 1] : explicit
    const input = prefixes.at(-1)?.tokens ?? 0
    const found = prefixes.findLastIndex(({ key }) => (entries.get(key) ?? 0) > now)
    const read = prefixes[found]?.tokens ?? 0
    let written = 0
    for (const at of breakpoints) {
      const prefix = prefixes[at]
      if (!prefix || prefix.tokens < minTokens) continue
      if (at > found) written = Math.max(written, prefix.tokens - read)
      entries.set(prefix.key, now + 30 * MINUTE)
    }
    return { input, read, written }
  }
}

interface AutomaticRules {
  /** The smallest prefix that is cached, in tokens. */
  minTokens?: number
  /** Cached prefixes grow in steps of this many tokens. */
  step?: number
  /** Returns the value that assigns a request to a server. If it's undefined or null, servers are assigned round-robin. */
  findServer?(request: { body: Record<string, unknown>; headers: Headers }): unknown
  /** The number of servers, each with its own cache. */
  servers?: number
}

/** Simulates a cache that finds the longest prefix of any earlier request on the same server. Prefixes last 5 minutes, and writes are free. */
export function simulateAutomatic(readPrompt: PromptReader, rules: AutomaticRules = {}): CacheSimulator {
  const { minTokens = 1_024, step = 128, findServer, servers = 1 } = rules
  const seen: Array<{ server: unknown; text: string; until: number }> = []
  let turn = 0
  return ({ body, headers = new Headers(), now }) => {
    const server = findServer?.({ body: Object(body), headers }) ?? turn++ % servers
    const text = readPrompt(body)
      .map((block) => block.text)
      .join('\n')
    let length = 0
    for (const item of seen)
      if (item.server === server && item.until > now) length = Math.max(length, countShared(item.text, text))
    seen.push({ server, text, until: now + 5 * MINUTE })
    const read = Math.floor(length / 4 / step) * step
    return { input: countTokens(text), read: read < minTokens ? 0 : read, written: 0 }
  }
}

function countShared(value: string, other: string): number {
  if (other.startsWith(value)) return value.length
  let at = 0
  while (at < value.length && value[at] === other[at]) at++
  return at
}

/**
 * Simulates the rules of DeepSeek: a prefix is only found as a complete unit. A unit ends with the user's input, or where two requests' common prefix
 * ends.
 */
export function simulateUnits(readPrompt: PromptReader): CacheSimulator {
  const units = new Set<string>()
  const seen = new Set<string>()
  return ({ body }) => {
    const prefixes = listPrefixes(readPrompt(body))
    const read = prefixes[prefixes.findLastIndex(({ key }) => units.has(key))]?.tokens ?? 0
    const shared = prefixes.findLast(({ key }) => seen.has(key))
    for (const unit of [shared, prefixes.at(-1)]) if (unit) units.add(unit.key)
    for (const { key } of prefixes) seen.add(key)
    return { input: prefixes.at(-1)?.tokens ?? 0, read, written: 0 }
  }
}

function listPrefixes(blocks: readonly Block[], start = ''): Array<{ key: string; tokens: number }> {
  let key = start
  let tokens = 0
  return blocks.map((block) => {
    key = `${hash(key + block.text)}`
    tokens += block.tokens
    return { key, tokens }
  })
}

function hash(text: string): string {
  let one = 0x811c9dc5
  let other = 0x5bd1e995
  for (let at = 0; at < text.length; at++) {
    one = Math.imul(one ^ text.charCodeAt(at), 0x01000193)
    other = Math.imul(other ^ text.charCodeAt(at), 0x5bd1e995)
  }
  return `${one >>> 0} ${other >>> 0} ${text.length}`
}
