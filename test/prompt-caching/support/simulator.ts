import { isObject, type JsonObject } from '../../../src/lib/json.ts'

/** The tokens of one request, as a provider reports them. */
export interface SimulatedUsage {
  /** All input tokens. */
  input: number
  read: number
  written: number
}

/** A provider's cache of prompts, with its rules. */
export interface CacheSimulator {
  /** Counts one request at a time, in ms. Throws if the request breaks a rule. */
  count(body: JsonObject, now: number): SimulatedUsage
}

interface Block {
  text: string
  tokens: number
  /** Lifetime in ms, if the block has a mark. */
  ttlMs?: number
}

const MINUTE = 60_000
const countTokens = (text: string) => Math.ceil(text.length / 4)

/**
 * Simulates Anthropic's rules: at most four marks, longer lifetimes first, no prefix below the minimum, and from each mark a look back over at most 20
 * blocks for an entry that is still alive. A read renews an entry.
 */
export function simulateAnthropic({ minTokens = 1_024 } = {}): CacheSimulator {
  const entries = new Map<string, { until: number; ttlMs: number }>()
  return {
    count(body, now) {
      const blocks = listBlocks(body)
      const marks = blocks.flatMap(({ ttlMs }, at) => (ttlMs === undefined ? [] : [{ at, ttlMs }]))
      const slots = marks.length + (isObject(body.cache_control) && blocks.at(-1)?.ttlMs === undefined ? 1 : 0)
      if (isObject(body.cache_control)) {
        const last = blocks.findLastIndex(({ text }) => text !== '')
        if (!marks.some(({ at }) => at === last)) marks.push({ at: last, ttlMs: 5 * MINUTE })
      }
      if (slots > 4) throw new Error(`A maximum of 4 blocks with cache_control may be provided. Found ${slots}.`)
      marks.forEach(({ ttlMs }, nth) => {
        if (nth > 0 && ttlMs > (marks[nth - 1]?.ttlMs ?? 0)) throw new Error("ttl='1h' must not come after ttl='5m'")
      })
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
    },
  }
}

/** Lists the blocks of a Messages request, in the order of the prefix. Marks aren't part of a block's content. */
function listBlocks({ tools, system, messages }: JsonObject): Block[] {
  const turns = Array.isArray(messages) ? messages.filter(isObject) : []
  return [
    ...toList(tools).map(toBlock),
    ...toList(system).map(toBlock),
    ...turns.flatMap(({ role, content }) => toList(content).map((one) => toBlock(one, String(role)))),
  ]
}

const toList = (content: unknown): unknown[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : Array.isArray(content) ? content : []

function toBlock(value: unknown, role: unknown): Block {
  const { cache_control, ...rest } = Object(value)
  const text = `${typeof role === 'string' ? role : ''}${JSON.stringify(rest)}`
  const ttl = isObject(cache_control) ? (cache_control.ttl === '1h' ? 60 : 5) * MINUTE : undefined
  return { text, tokens: countTokens(text), ...(ttl !== undefined && { ttlMs: ttl }) }
}

function listPrefixes(blocks: readonly Block[]): Array<{ key: string; tokens: number }> {
  let key = ''
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

/**
 * Simulates the rules of GPT-5.6: one breakpoint of its own at the newest message unless the mode is explicit, and the latest three explicit ones. A
 * prefix is found only at a breakpoint. Writes last 30 minutes.
 */
export function simulateOpenAI({ minTokens = 1_024 } = {}): CacheSimulator {
  const entries = new Map<string, number>()
  return {
    count(body, now) {
      const { tools, instructions, input, prompt_cache_options, prompt_cache_key } = body
      const items = Array.isArray(input) ? input.filter(isObject) : []
      const blocks = [JSON.stringify([prompt_cache_key, tools ?? null, instructions ?? null]), ...items.map(toItemText)]
      const prefixes = listPrefixes(blocks.map((text) => ({ text, tokens: countTokens(text) })))
      const explicit = items.flatMap((item, at) =>
        JSON.stringify(item).includes('"prompt_cache_breakpoint"') ? [at + 1] : [],
      )
      if (explicit.length > 4) throw new Error('At most four breakpoints are allowed.')
      const isImplicit = Object(prompt_cache_options).mode !== 'explicit'
      const breakpoints = isImplicit ? [...explicit.slice(-3), prefixes.length - 1] : explicit
      const total = prefixes.at(-1)?.tokens ?? 0
      const found = prefixes.findLastIndex(({ key }) => (entries.get(key) ?? 0) > now)
      const read = prefixes[found]?.tokens ?? 0
      let written = 0
      for (const at of breakpoints) {
        const prefix = prefixes[at]
        if (!prefix || prefix.tokens < minTokens) continue
        if (at > found) written = Math.max(written, prefix.tokens - read)
        entries.set(prefix.key, now + 30 * MINUTE)
      }
      return { input: total, read, written }
    },
  }
}

const toItemText = (item: JsonObject): string =>
  JSON.stringify(item).replace(/,"prompt_cache_breakpoint":\{[^}]*\}/g, '')
