import { assertNever } from '../../../../lib/assert-never.ts'
import type { Traits } from '../../../../traits.ts'
import type { TargetContext } from '../../translator.ts'
import type { CacheBreakpoint, Part } from '../canonical-parts.ts'
import type { Tool } from '../canonical-tools.ts'
import type { ToolResult, Turn } from '../canonical-turns.ts'
import { isMeaningful } from './prepare-turns.ts'

interface CacheableItems {
  tools: readonly Tool[]
  turns: readonly Turn[]
}

/** An item in a copied request that may have a breakpoint. It can be changed in place. */
interface BreakpointCandidate {
  item: { cache?: CacheBreakpoint }
  within: 'tools' | 'instructions' | 'input' | 'assistant' | 'results' | 'result-parts'
  part?: CacheablePart
  /** The tool result that the part belongs to. */
  result?: ToolResult
}

type CacheablePart = Extract<Part, { cache?: CacheBreakpoint }>

/** Moves each empty text part's breakpoint to the item before it, which covers the same prefix. Empty text parts are dropped later. */
export function moveBlankBreakpoints(turns: readonly Turn[], { traits, warnings }: TargetContext): readonly Turn[] {
  if (traits.cacheBreakpoints === 'none' || !hasBreakpoints({ tools: [], turns })) return turns
  const copy = copyItems({ tools: [], turns })
  let previous: BreakpointCandidate | undefined
  for (const candidate of listBreakpointCandidates(copy)) {
    const { item, part, result } = candidate
    if (!isBlank(part, traits)) previous = candidate
    else if (item.cache) {
      const receiver = result ?? previous?.item
      if (receiver) receiver.cache ??= item.cache
      else warnings.recordDrop(warnings.getPath(item.cache, 'cache'))
      delete item.cache
    }
  }
  return copy.turns
}

/** Returns whether this is a text part that will be dropped or that can't have a breakpoint. */
const isBlank = (part: Part | undefined, { emptyText, cacheBreakpoints }: Traits): boolean =>
  part !== undefined && !isMeaningful(part, emptyText === 'refused' || cacheBreakpoints === 'cache_control')

/** The items with their breakpoints. `auto` is the breakpoint on the entire request. */
interface CacheableRequest extends CacheableItems {
  auto: CacheBreakpoint | undefined
}

/**
 * Keeps the cache breakpoints that the target supports. If there are too many, keeps the last ones in the conversation, the instructions, and the
 * tools, and then the latest of the rest. The breakpoint on the entire request counts too. Unless `acceptsAuto` is set, it moves to the last item.
 */
export function fitCacheBreakpoints(
  request: CacheableRequest,
  { acceptsAuto, ...target }: TargetContext & { acceptsAuto: boolean },
): { tools: Tool[]; turns: Turn[]; auto: CacheBreakpoint | undefined } {
  const { auto } = request
  if (!auto && !hasBreakpoints(request)) return { tools: [...request.tools], turns: [...request.turns], auto }
  const copy = copyItems(request)
  const { traits, warnings } = target
  const hasLifetimes = traits.cacheBreakpoints === 'cache_control'
  const candidates = listBreakpointCandidates(copy)

  function drop({ item }: BreakpointCandidate) {
    if (item.cache) warnings.recordDrop(warnings.getPath(item.cache, 'cache'))
    delete item.cache
  }

  for (const candidate of candidates) {
    if (!isUncacheable(candidate, target)) continue
    if (candidate.result && candidate.item.cache && !candidate.result.cache) {
      candidate.result.cache = candidate.item.cache
      delete candidate.item.cache
    } else drop(candidate)
  }
  const last = candidates.findLast((candidate) => !isUncacheable(candidate, target) && !isBlank(candidate.part, traits))
  if (auto && hasLifetimes && !acceptsAuto && last) last.item.cache ??= auto
  const autoSlots = auto && hasLifetimes && acceptsAuto ? 1 : 0
  const slots = traits.cacheBreakpoints === 'none' ? 0 : traits.maxCacheBreakpoints - autoSlots
  const withBreakpoints = candidates.filter(({ item }) => item.cache)
  for (const candidate of rankBreakpoints(withBreakpoints).slice(slots)) drop(candidate)
  if (!hasLifetimes) return { ...copy, auto }

  const autoBreakpoint: { cache?: CacheBreakpoint } = acceptsAuto && auto ? { cache: auto } : {}
  fitLifetimes([...withBreakpoints.map(({ item }) => item), autoBreakpoint], target)
  if (autoBreakpoint.cache && last?.item.cache && last.item.cache.ttl !== autoBreakpoint.cache.ttl)
    autoBreakpoint.cache = last.item.cache // both breakpoints apply to the last block
  return { ...copy, auto: autoBreakpoint.cache }
}

/**
 * Sorts breakpoints by importance: the last one in each part of the prefix, then the others from last to first, because later ones cover longer
 * prefixes.
 */
function rankBreakpoints(withBreakpoints: readonly BreakpointCandidate[]): BreakpointCandidate[] {
  const areas = [['tools'], ['instructions'], ['input', 'assistant', 'results', 'result-parts']]
  const lastOfEach = areas.flatMap((area) => withBreakpoints.findLast(({ within }) => area.includes(within)) ?? [])
  return [...new Set([...lastOfEach.reverse(), ...withBreakpoints.toReversed()])]
}

/** Limits the TTLs to the ones that the target supports; Anthropic has two. A longer TTL must not follow a shorter one. */
function fitLifetimes(items: readonly { cache?: CacheBreakpoint }[], { traits, warnings }: TargetContext): void {
  let isShort = traits.maxCacheTtl === '5m'
  for (const item of items) {
    const { cache } = item
    if (!cache) continue
    const isLong = cache.ttl !== undefined && cache.ttl !== '5m'
    isShort ||= !isLong
    if (!isLong || (!isShort && cache.ttl === '1h')) continue
    warnings.recordChange(warnings.getPath(cache, 'cache', 'ttl'), 'replaced')
    item.cache = { ...cache, ttl: isShort ? '5m' : '1h' }
  }
}

function isUncacheable(
  { within }: BreakpointCandidate,
  { traits: { cacheBreakpoints, uncacheable } }: TargetContext,
): boolean {
  if (within === 'tools' && cacheBreakpoints === 'prompt_cache_breakpoint') return true // only parts of the conversation can have such a breakpoint
  return uncacheable.some((area) => area === within)
}

/** Returns whether there are any breakpoints. Most requests have none and aren't copied. */
const hasBreakpoints = ({ tools, turns }: CacheableItems): boolean =>
  tools.some(hasBreakpoint) ||
  turns.some((turn) =>
    turn.role === 'tool'
      ? turn.results.some((result) => hasBreakpoint(result) || result.content.some(hasBreakpoint))
      : turn.content.some(hasBreakpoint),
  )

const hasBreakpoint = (item: Tool | Part | ToolResult): boolean =>
  ('cache' in item && item.cache !== undefined) ||
  ('type' in item && item.type === 'search-result' && item.content.some(hasBreakpoint))

/** Lists all items that may have breakpoints, in the order in which the prefix is cached. */
function listBreakpointCandidates({ tools, turns }: CacheableItems): BreakpointCandidate[] {
  const candidates: BreakpointCandidate[] = tools.flatMap((item) =>
    item.type === 'function' ? [{ item, within: 'tools' }] : [],
  )
  const add = (part: Part, target: Omit<BreakpointCandidate, 'item' | 'part'>) => {
    if (canHaveBreakpoint(part)) candidates.push({ item: part, part, ...target })
  }
  for (const turn of turns) {
    if (turn.role === 'tool')
      for (const result of turn.results) {
        for (const part of result.content) add(part, { within: 'result-parts', result })
        candidates.push({ item: result, within: 'results' })
      }
    else {
      const location = turn.role === 'user' ? 'input' : turn.role === 'system' ? 'instructions' : turn.role
      for (const part of turn.content) add(part, { within: location })
    }
  }
  return candidates
}

/** Returns whether the part can have a breakpoint. Reasoning and server tools can't. */
const canHaveBreakpoint = (part: Part): part is CacheablePart => CACHEABLE_PART_TYPES.has(part.type)

const CACHEABLE_PART_TYPES: ReadonlySet<Part['type']> = new Set<CacheablePart['type']>([
  ...(['text', 'image', 'file', 'audio', 'search-result', 'tool-call'] as const),
])

/** Copies each item. Breakpoints on a search result's text parts become one on the result. */
function copyItems({ tools, turns }: CacheableItems): { tools: Tool[]; turns: Turn[] } {
  const copyTurn = (turn: Turn): Turn => {
    switch (turn.role) {
      case 'system':
        return { ...turn, content: turn.content.map(copyPart) }
      case 'user':
        return { ...turn, content: turn.content.map(copyPart) }
      case 'assistant':
        return { ...turn, content: turn.content.map(copyPart) }
      case 'tool':
        return {
          ...turn,
          results: turn.results.map((result) => ({ ...result, content: result.content.map(copyPart) })),
        }
      default:
        return assertNever(turn)
    }
  }
  return { tools: tools.map((tool) => ({ ...tool })), turns: turns.map(copyTurn) }
}

function copyPart<P extends Part>(part: P): P {
  if (part.type !== 'search-result') return { ...part }
  const inner = part.content.findLast(({ cache }) => cache)?.cache
  if (!inner) return { ...part }
  return { ...part, cache: part.cache ?? inner, content: part.content.map(({ cache: _, ...text }) => text) }
}
